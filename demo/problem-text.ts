/** What went wrong, and what a person can do about it, in plain words. */
import { WakefulError } from "wakeful";

export interface ProblemText {
  readonly title: string;
  readonly advice: string;
}

const byCode: Readonly<Record<string, ProblemText>> = {
  "storage-full": {
    title: "The storage of this browser is full.",
    advice: "Nothing was lost, but nothing more can be saved. Free some space, then try again.",
  },
  "storage-damaged": {
    title: "The database file is damaged.",
    advice: "Its bytes were kept as they are. Do not clear this site's data if you want them rescued.",
  },
  "database-newer": {
    title: "The data was written by a newer version of this app.",
    advice: "Reload the page to get that version. Nothing was changed.",
  },
  "client-outdated": {
    title: "Another tab runs a newer version of this app.",
    advice: "Reload this tab to go on.",
  },
  "definition-outdated": {
    title: "The data was written by a newer version of this app.",
    advice: "Reload this tab to go on.",
  },
  "no-owner": {
    title: "No tab could open the database.",
    advice: "Close the other tabs of this app, then try again.",
  },
  "owner-unresponsive": {
    title: "The tab that keeps the database does not answer.",
    advice: "It may be frozen. Bring it to the front or close it, then try again.",
  },
};

const unavailable: Readonly<Record<string, ProblemText>> = {
  unsupported: {
    title: "This browser cannot store the data.",
    advice:
      "A recent Chrome, Edge, Firefox or Safari can (OPFS and Web Locks), if the page comes over https or from localhost.",
  },
  blocked: {
    title: "This browser does not let the page store data.",
    advice: "Private windows and strict privacy settings do that. Open the page in an ordinary window.",
  },
  busy: {
    title: "Something else has the database open.",
    advice: "Close other windows of this app, then try again.",
  },
};

/** Says what an error means to the person in front of the page; its own message is the fallback. */
export function describeProblem(error: unknown): ProblemText {
  if (!(error instanceof WakefulError)) {
    return { title: "Something went wrong.", advice: error instanceof Error ? error.message : String(error) };
  }
  const reason = error.code === "storage-unavailable" ? error.details["reason"] : undefined;
  const known = typeof reason === "string" ? unavailable[reason] : byCode[error.code];
  return known ?? { title: "Something went wrong.", advice: error.message };
}
