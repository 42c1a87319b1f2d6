export type BrowserName = "chromium" | "firefox";

export declare const browserNames: readonly BrowserName[];
export declare const debian: Readonly<Record<BrowserName, { package: string; path: string; variable: string }>>;
export declare function browserPath(name: string): string | undefined;
export declare function launchOptions(name: string): {
  executablePath?: string;
  channel?: string;
  args?: string[];
};
