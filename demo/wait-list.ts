/** Shows what this tab waits for: the call, the store, and the paths whose change wakes it. */
import { byId, element } from "./element.js";
import { formatPath } from "./event-text.js";
import type { Wait } from "./waits.js";

export function showWaits(waits: readonly Wait[]): void {
  const rows = waits.map(({ call, purpose, storeName, storeId, readPaths }) =>
    element(
      "li",
      {},
      element("p", {}, `For ${purpose}`),
      element("span", { class: "code" }, `${call} on ${storeName} ${storeId}`),
      element(
        "span",
        { class: "code paths" },
        readPaths === null ? "" : `reads ${readPaths.map(formatPath).join(", ")}`,
      ),
    ),
  );
  byId("waits", HTMLElement).replaceChildren(
    ...(rows.length > 0 ? rows : [element("li", { class: "quiet" }, "For nothing.")]),
  );
}
