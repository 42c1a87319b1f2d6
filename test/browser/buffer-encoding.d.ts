/**
 * Vitest's types for browser mode name this type of Node's. Node's own types are left out of this project, so that
 * `process` or `Buffer` in a browser test does not compile.
 */
type BufferEncoding = "utf8" | "utf-8" | "base64" | "hex" | "ascii" | "latin1" | "binary" | "ucs2" | "utf16le";
