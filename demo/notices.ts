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
  const notices = byId("notices", HTMLElement);
  for (const shown of notices.children) {
    if (shown.querySelector("strong")?.textContent === title) shown.remove();
  }
  return new Promise((resolve) => {
    const button = element("button", { type: "button", class: "button" }, action);
    const text = element("p", {}, element("strong", {}, title), ` ${advice}`);
    const notice = element("div", { class: "notice", role: "alert" }, text, button);
    button.addEventListener("click", () => {
      notice.remove();
      resolve();
    });
    notices.append(notice);
  });
}

/** Milliseconds. */
const READ_WITHIN = 8000;
let fading: ReturnType<typeof setTimeout> | undefined;

/** Says something that a screen reader should read out, too. */
export function announce(text: string): void {
  setText("announcement", text);
  clearTimeout(fading);
  fading = setTimeout(() => setText("announcement", ""), READ_WITHIN);
}
