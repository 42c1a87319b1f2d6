/** The strip at the top: where all events are, in one line, one bar and its key. */
import { byId, element, setText } from "./element.js";
import { formatCount } from "./event-text.js";
import type { Progress } from "./progress.js";

export function showProgress(progress: Progress): void {
  const { total, imported, reviewed, awaitingApproval, inReview, waiting } = progress;
  byId("progress", HTMLElement).hidden = total === 0;
  if (total === 0) return;
  const text =
    imported < total
      ? `${formatCount(imported)} of ${formatCount(total)} events imported`
      : `${formatCount(reviewed)} of ${formatCount(total)} events reviewed`;
  setText("progress-text", text);
  const parts = [
    { name: "reviewed", count: reviewed, label: "reviewed" },
    { name: "awaiting", count: awaitingApproval, label: "awaiting approval" },
    { name: "in-review", count: inReview, label: "in review" },
    { name: "waiting", count: waiting, label: "waiting" },
  ];
  byId("progress-bar", HTMLElement).replaceChildren(
    ...parts
      .filter(({ count }) => count > 0)
      .map(({ name, count }) => {
        const part = element("span", { class: `part-${name}` });
        part.style.width = `max(3px, ${(count / total) * 100}%)`;
        if (name === "waiting" && imported === total) part.style.flex = "1 1 0"; // What the minimal widths leave.
        return part;
      }),
  );
  byId("progress-key", HTMLElement).replaceChildren(
    ...parts.map(({ name, count, label }) =>
      element("li", { class: `part-${name}` }, `${formatCount(count)} ${label}`),
    ),
  );
}
