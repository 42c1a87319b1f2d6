/** Keeps the database panel true, and tells the person what the library reports about storage and ownership. */
import { StorageFullError, type Stores } from "wakeful";
import type { DatabasePanel } from "./database-panel.js";
import { announce, showNotice, showProblem } from "./notices.js";

/** Milliseconds after the last change at which the storage used is asked for again. */
const MEASURE_AFTER = 1000;

const storageTitles = {
  fallback: "Nothing is stored on disk: what you do is gone when the last tab closes.",
  lost: "The data that was here is gone.",
  damaged: "The database file is damaged.",
};

export interface DatabaseFollowing {
  readonly database: DatabasePanel;
  /** Called once, with the newest sequence as this tab begins. */
  readonly onStart: (sequence: number) => void;
}

export function followDatabase(stores: Stores, { database, onStart }: DatabaseFollowing): void {
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
    const isMine = host === stores.session;
    database.update({ epoch, sequence, owner: isMine ? "this tab" : "another tab" });
    if (known) announce(`The tab that kept the database is gone; ${isMine ? "this one" : "another one"} took over.`);
    else onStart(sequence);
    known = true;
    measureSoon();
  });
  stores.on("commit", measureSoon);
  stores.on("storage", ({ status, reason }) => {
    if (status === "full")
      void showProblem(new StorageFullError(reason)); // As the call that met it says it.
    else void showNotice({ title: storageTitles[status], advice: reason }, "Go on");
  });
  stores.on("outdated", ({ error }) => void showProblem(error, "Reload").then(() => location.reload()));
  stores.on("error", ({ error }) => void showProblem(error, "Go on"));
  void measure().catch(showProblem);
}
