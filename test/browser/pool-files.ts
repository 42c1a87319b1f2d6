/** The files of a database in OPFS, as tests look at them and damage them while nobody has them open. */
import { vi } from "vitest";
import { DATA_AT, POOL_FOLDER, poolDirectory } from "../../src/protocol/pool-layout.js";

export const isDatabase = (content: string): boolean => content.startsWith("SQLite format 3");
export const isLog = (content: string): boolean =>
  content.startsWith("7\u007f\u0006\u0082") || content.startsWith("7\u007f\u0006\u0083");

export async function databaseFolder(name: string): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory();
  for (const segment of poolDirectory(name).split("/")) directory = await directory.getDirectoryHandle(segment);
  return directory;
}

/** The pool's files whose content, which begins behind the pool's header, is as asked. */
export async function poolFiles(name: string, matches: (content: string) => boolean): Promise<FileSystemFileHandle[]> {
  const directory = await (await databaseFolder(name)).getDirectoryHandle(POOL_FOLDER);
  const found: FileSystemFileHandle[] = [];
  for await (const entry of directory.values()) {
    if (entry.kind !== "file") continue;
    const content = (await bytesOf(entry)).subarray(DATA_AT, DATA_AT + 16);
    if (matches(String.fromCharCode(...content))) found.push(entry);
  }
  return found;
}

export async function bytesOf(file: FileSystemFileHandle): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await file.getFile()).arrayBuffer());
}

export async function patch(
  file: FileSystemFileHandle,
  position: number,
  data: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writable = await file.createWritable({ keepExistingData: true });
  await writable.write({ type: "write", position, data });
  await writable.close();
}

export async function truncate(file: FileSystemFileHandle, size: number): Promise<void> {
  const writable = await file.createWritable({ keepExistingData: true });
  await writable.truncate(size);
  await writable.close();
}

/** Runs `action` again as long as a dying worker still holds the file. */
export async function onceFree(action: () => Promise<void>): Promise<void> {
  await vi.waitFor(action, { timeout: 5000 });
}
