/** What the person must know: problems that stay until they are dealt with, and news that the next one replaces. */
import { reportActivity } from "./activity.js";
import { byId, element, setText } from "./element.js";
import { describeProblem, type ProblemText } from "./problem-text.js";

/** Shows a problem with one button; resolves when it is pressed. The same problem is shown once. */
export function showProblem(error: unknown, action = "Try again"): Promise<void> {
  return showNotice(describeProblem(error), action);
}

export function showNotice({ title, advice }: ProblemText, action: string): Promise<void> {
  reportActivity({ type: "problem", text: `${title} ${advice}` });
  const known = shown.get(title);
  if (known !== undefined) return known; // A full disk is an event and the error of a call: one button ends both.
  const button = element("button", { type: "button", class: "button" }, action);
  const text = element("p", {}, element("strong", {}, title), ` ${advice}`);
  const notice = element("div", { class: "notice", role: "alert" }, text, button);
  byId("notices", HTMLElement).append(notice);
  const pressed = new Promise<void>((resolve) => {
    button.addEventListener("click", () => {
      notice.remove();
      shown.delete(title);
      resolve();
    });
  });
  shown.set(title, pressed);
  return pressed;
}

/** By title: the notices that are to be seen, and when their button is pressed. */
const shown = new Map<string, Promise<void>>();

/** Milliseconds. */
const READ_WITHIN = 8000;
let fading: ReturnType<typeof setTimeout> | undefined;

/** Says something that a screen reader should read out, too. */
export function announce(text: string): void {
  setText("announcement", text);
  clearTimeout(fading);
  fading = setTimeout(() => setText("announcement", ""), READ_WITHIN);
}
