/**
 * Taking the whole database out and putting another one in: the calls for it, beside those of StoreConnector.
 *
 * A transfer belongs to one session and one owner. It travels in slices, each a call of its own, so that commits go on
 * in between; when its owner is lost it has never happened.
 */

/** Bytes in one slice: what the owner reads or writes before it answers the next call. */
export const SLICE_BYTES: number = 256 * 1024;

export const TRANSFER_METHODS = [
  "beginTransfer",
  "readExport",
  "writeImport",
  "checkImport",
  "finishImport",
  "endTransfer",
  "checkIntegrity",
] as const;
export type TransferMethod = (typeof TRANSFER_METHODS)[number];

export function isTransferMethod(method: string): method is TransferMethod {
  return TRANSFER_METHODS.some((one) => one === method);
}

/** Only one transfer runs at a time; `busy`: another one does. */
export type TransferBegun =
  | { readonly status: "busy" }
  | {
      readonly status: "begun";
      readonly transfer: string;
      /** Of the file that an export will be; 0 for an import. */
      readonly bytes: number;
      /** As of which sequence an export is. */
      readonly sequence: number;
    };

/** One part of a check that is made in parts. */
export interface IntegrityPart {
  /** How many there are. */
  readonly parts: number;
  /** SQLite's words; empty: this part is whole. */
  readonly problems: readonly string[];
}

export interface TransferConnector {
  beginTransfer(kind: "export" | "import"): Promise<TransferBegun>;
  /** Bytes from `offset` on, a slice at most; empty: that is all. */
  readExport(request: { readonly transfer: string; readonly offset: number }): Promise<Uint8Array<ArrayBuffer>>;
  /** Slices come in their order; the same one may come again. */
  writeImport(request: {
    readonly transfer: string;
    readonly offset: number;
    readonly bytes: Uint8Array<ArrayBuffer>;
  }): Promise<void>;
  /** Checks one part of what was written, from 0 on, in order. */
  checkImport(request: { readonly transfer: string; readonly part: number }): Promise<IntegrityPart>;
  /** Replaces what the database holds, in one transaction. Every part must have been checked. */
  finishImport(transfer: string): Promise<void>;
  /** Idempotent. */
  endTransfer(transfer: string): Promise<void>;
  /** Checks one part of the database, from 0 on. */
  checkIntegrity(part: number): Promise<IntegrityPart>;
}

/**
 * Databases with the same line are one whose content was replaced by an import: sessions and their records stay. Part of
 * the database id, before the transfer that replaced the content last.
 */
export function lineOf(databaseId: string): string {
  return databaseId.replace(/\..*/, "");
}
