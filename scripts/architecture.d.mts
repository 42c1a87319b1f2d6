export interface Finding {
  level: "fail" | "warn";
  rule: string;
  path: string;
  line: number;
  message: string;
}

export declare function checkArchitecture(files: ReadonlyMap<string, string>): Finding[];
