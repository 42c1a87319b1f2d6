import type { Database } from "../../worker/database.js";

/** A database whose next statements fail when a test says so. */
export interface FailingDatabase extends Database {
  /** The statement after `count` further ones throws `error`; those after it run again. */
  failAfter(count: number, error: Error): void;
  /** Statements run since the last `failAfter`. */
  readonly ran: number;
  /** Whether a transaction is open. */
  readonly busy: boolean;
}

export function failingDatabase(database: Database): FailingDatabase {
  let left = Number.POSITIVE_INFINITY;
  let failure = new Error("nothing was to fail");
  let ran = 0;
  let busy = false;

  function pass(): void {
    ran += 1;
    left -= 1;
    if (left === -1) throw failure;
  }

  return {
    ...database,
    kind: database.kind,
    journalMode: database.journalMode,
    durability: database.durability,
    usable: database.usable,
    get ran() {
      return ran;
    },
    get busy() {
      return busy;
    },
    failAfter: (count, error) => {
      left = count;
      failure = error;
      ran = 0;
    },
    run: (sql, ...parameters) => {
      pass();
      return database.run(sql, ...parameters);
    },
    get: (sql, ...parameters) => {
      pass();
      return database.get(sql, ...parameters);
    },
    all: (sql, ...parameters) => {
      pass();
      return database.all(sql, ...parameters);
    },
    script: (sql) => database.script(sql),
    transaction: (work) =>
      database.transaction(() => {
        busy = true;
        try {
          return work();
        } finally {
          busy = false;
        }
      }),
    setDurability: (durability) => database.setDurability(durability),
    close: () => database.close(),
  };
}
