/**
 * Reviews by itself, for `?auto=1`: it looks at the page and presses what a person would press, so that everything
 * behind the buttons is the same.
 */
import type { Rating } from "./earthquake.js";
import { byId } from "./element.js";

export function reviewByItself(): void {
  const desk = byId("desk", HTMLElement);
  const form = byId("rating-form", HTMLFormElement);
  let rated: string | undefined;

  const look = (): void => {
    for (const button of desk.querySelectorAll<HTMLButtonElement>("[data-approve=true]:not(:disabled)")) button.click();
    const event = form.dataset["event"] ?? "";
    if (event === "" || event === rated) {
      rated = event;
      return;
    }
    rated = event;
    form.querySelector<HTMLInputElement>(`input[value=${ratingFor(Number(form.dataset["magnitude"]))}]`)?.click();
    form.requestSubmit();
  };

  new MutationObserver(look).observe(desk, { subtree: true, childList: true, attributes: true });
  look();
}

export function ratingFor(magnitude: number): Rating {
  if (magnitude < 2.5) return "minor";
  if (magnitude < 4) return "felt";
  return magnitude < 5.5 ? "notable" : "alarming";
}
