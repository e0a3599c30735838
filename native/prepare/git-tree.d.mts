export class WorkTree {
  constructor(folder: string);
  readonly folder: string;
  git(what: string, ...args: string[]): Promise<string>;
  tryGit(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  writeTree(): Promise<string>;
  snapshot(baseTree: string): Promise<string>;
  dispose(): void;
}
