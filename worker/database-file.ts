/**
 * The bytes of a file that SQLite has open, below SQLite: what is read and written here goes past its cache and its log.
 *
 * Who reads makes sure that SQLite writes nothing meanwhile (export.ts freezes the file); who writes does it before
 * SQLite has read anything from the file.
 */
import type { Sqlite } from "./opfs-pool.js";
import { storageFailure } from "./sqlite-failure.js";

type Connection = InstanceType<Sqlite["module"]["oo1"]["DB"]>;
/** One of sqlite3_io_methods, called as SQLite calls it. */
type FileMethod = (file: number, ...parameters: readonly (number | bigint)[]) => number;

export class DatabaseFile {
  readonly #sqlite: Sqlite;
  readonly #pointer: number;
  readonly #vfs: string | undefined;

  /** @param which the database's own file, or its log */
  constructor(sqlite: Sqlite, connection: Connection, which: "database" | "log", vfs: string | undefined) {
    this.#sqlite = sqlite;
    this.#vfs = vfs;
    const { capi, wasm } = sqlite.module;
    const operation = which === "log" ? capi.SQLITE_FCNTL_JOURNAL_POINTER : capi.SQLITE_FCNTL_FILE_POINTER;
    const stack = wasm.pstack.pointer;
    try {
      const pointer = wasm.pstack.allocPtr();
      capi.sqlite3_file_control(connection, "main", operation, pointer);
      this.#pointer = wasm.peekPtr(pointer);
    } finally {
      wasm.pstack.restore(stack);
    }
  }

  size(): number {
    return this.#withMemory(8, (size) => {
      this.#call("$xFileSize", size);
      return Number(this.#sqlite.module.wasm.peek64(size));
    });
  }

  /** `length` bytes from `offset` on; zeros past the end. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    return this.#withMemory(length, (memory) => {
      this.#call("$xRead", memory, length, BigInt(offset));
      // A copy, since the memory is SQLite's and is used again.
      return this.#sqlite.module.wasm.heap8u().slice(memory, memory + length);
    });
  }

  write(offset: number, bytes: Uint8Array): void {
    this.#withMemory(bytes.length, (memory) => {
      this.#sqlite.module.wasm.heap8u().set(bytes, memory);
      this.#call("$xWrite", memory, bytes.length, BigInt(offset));
    });
  }

  truncate(): void {
    this.#call("$xTruncate", 0n);
  }

  #withMemory<T>(bytes: number, work: (memory: number) => T): T {
    const { wasm } = this.#sqlite.module;
    const memory = wasm.alloc(bytes);
    try {
      return work(memory);
    } finally {
      wasm.dealloc(memory);
    }
  }

  #call(method: string, ...parameters: readonly (number | bigint)[]): void {
    const { capi, wasm } = this.#sqlite.module;
    const methods = new capi.sqlite3_io_methods(new capi.sqlite3_file(this.#pointer).$pMethods);
    // The struct's fields are named after SQLite's, and this one is a function of that signature.
    const run = wasm.functionEntry(Reflect.get(methods, method) as number) as unknown as FileMethod;
    const code = run(this.#pointer, ...parameters);
    if (code === 0 || code === capi.SQLITE_IOERR_SHORT_READ) return;
    const platformError = this.#vfs === undefined ? undefined : this.#sqlite.platformErrors.get(this.#vfs);
    throw storageFailure(code, new Error(`${method.slice(1)} answered ${code}`), platformError);
  }
}
