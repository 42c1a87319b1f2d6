/** Where the library writes what a developer may want to read. Nothing is written unless one is passed; `console` fits. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}
