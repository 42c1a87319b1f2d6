/** Keeps the database panel true, and tells the person what the library reports about storage and ownership. */
import type { Stores } from "wakeful";
import type { DatabasePanel } from "./database-panel.js";
import { announce, showNotice, showProblem } from "./notices.js";

/** Milliseconds after the last change at which the storage used is asked for again. */
const MEASURE_AFTER = 1000;

export function followDatabase(stores: Stores, database: DatabasePanel): void {
  let measuring: ReturnType<typeof setTimeout> | undefined;
  const measure = async (): Promise<void> => {
    measuring = undefined;
    database.update({ storage: await stores.storage() });
  };
  const measureSoon = (): void => {
    measuring ??= setTimeout(() => void measure().catch(showProblem), MEASURE_AFTER);
  };

  let known = false;
  stores.on("owner", ({ epoch, sequence, host }) => {
    database.update({ epoch, sequence, owner: host === stores.session ? "this tab" : "another tab" });
    if (known) announce("The tab that kept the database is gone; another one took over.");
    known = true;
    measureSoon();
  });
  stores.on("commit", measureSoon);
  stores.on("storage", ({ status, reason }) => {
    const titles = {
      fallback: "Nothing is stored on disk: what you do is gone when the last tab closes.",
      lost: "The data that was here is gone.",
      full: "The storage of this browser is full.",
    };
    void showNotice({ title: titles[status], advice: reason }, "Understood");
  });
  stores.on("outdated", ({ error }) => void showProblem(error, "Reload").then(() => location.reload()));
  stores.on("error", ({ error }) => void showProblem(error, "Understood"));
  void measure().catch(showProblem);
}
