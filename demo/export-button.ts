/** The button that downloads every review. */
import type { Stores } from "wakeful";
import { byId } from "./element.js";
import { download, exportReviews } from "./export-reviews.js";
import { showProblem } from "./notices.js";

export function offerExport(stores: Stores): void {
  const button = byId("export", HTMLButtonElement);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      download("earthquake-reviews.json", await exportReviews(stores));
    } catch (error) {
      void showProblem(error);
    } finally {
      button.disabled = false;
    }
  });
}
