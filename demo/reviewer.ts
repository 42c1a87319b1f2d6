/**
 * Who this tab is: a reviewer's name that survives a reload, and a Web Lock that tells the other tabs it is here.
 *
 * V1  Of all open tabs, at most one is a given reviewer: whoever holds the lock of that name.
 * V2  The lock is given up when the page is hidden away for good, so that its event can be handed back.
 */

const LOCK_PREFIX = "earthquake-desk reviewer ";
const SESSION_KEY = "reviewer";
/** Milliseconds in which the previous page of this tab has certainly let go of its lock after a reload. */
const RELOAD_GRACE = 1500;

/** What reviewers are called. */
const rocks =
  "Andesite Basalt Chalk Chert Diorite Dolomite Dunite Feldspar Flint Gabbro Gneiss Granite Gypsum Jasper Marble Mica Obsidian Onyx Pumice Quartz Rhyolite Schist Shale Slate Tuff".split(
    " ",
  );

export interface Reviewer {
  readonly id: string;
  readonly name: string;
}

export function reviewerName(id: string): string {
  return id.replace(/-[^-]*$/, "");
}

/** Takes the place of the reviewer this tab was before its reload, or of a new one. */
export async function becomeReviewer(): Promise<Reviewer> {
  const previous = sessionStorage.getItem(SESSION_KEY);
  // A duplicated tab copies the session storage: then the original has the lock, and this tab is someone new (V1).
  const id = previous !== null && (await holdLock(previous)) ? previous : await becomeNew();
  sessionStorage.setItem(SESSION_KEY, id);
  return { id, name: reviewerName(id) };
}

async function becomeNew(): Promise<string> {
  for (;;) {
    const taken = new Set([...(await presentReviewers())].map(reviewerName));
    const free = rocks.filter((rock) => !taken.has(rock));
    const names = free.length > 0 ? free : rocks;
    const name = names[Math.floor(Math.random() * names.length)] ?? "Basalt";
    const id = `${name}-${crypto.randomUUID().slice(0, 8)}`;
    if (await holdLock(id)) return id;
  }
}

/** The reviewers whose tabs are open now. */
export async function presentReviewers(): Promise<ReadonlySet<string>> {
  const { held = [] } = await navigator.locks.query();
  const names = held.map(({ name = "" }) => name).filter((name) => name.startsWith(LOCK_PREFIX));
  return new Set(names.map((name) => name.slice(LOCK_PREFIX.length)));
}

/** Answers whether the lock was got. It is then held as long as this page is shown. */
async function holdLock(id: string): Promise<boolean> {
  if (!(await requestLock(id))) return false;
  // A page that comes back from the back/forward cache takes its place again.
  addEventListener("pageshow", (event) => {
    if (event.persisted) void requestLock(id);
  });
  return true;
}

function requestLock(id: string): Promise<boolean> {
  return new Promise((resolve) => {
    const granted = new Promise<void>((release) => {
      addEventListener("pagehide", () => release(), { once: true }); // V2
    });
    navigator.locks
      .request(LOCK_PREFIX + id, { signal: AbortSignal.timeout(RELOAD_GRACE) }, () => {
        resolve(true);
        return granted;
      })
      .catch(() => resolve(false));
  });
}
