/** Which of the desk's cards is shown: exactly one at a time. */
export type Card = "opening" | "failed" | "empty" | "importing" | "waiting" | "finished" | "reviewing";

export function showCard(card: Card): void {
  for (const section of document.querySelectorAll<HTMLElement>("[data-view]")) {
    section.hidden = section.dataset["view"] !== card;
  }
}
