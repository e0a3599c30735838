export class PrepareError extends Error {}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  onLine?: (line: string) => void;
}

export function run(
  command: string,
  args: string[],
  options?: RunOptions,
): Promise<{ code: number; stdout: string; stderr: string }>;
export function must(what: string, command: string, args: string[], options?: RunOptions): Promise<string>;
export function withLock<T>(file: string, body: () => Promise<T>, onWait?: (message: string) => void): Promise<T>;
export function cli(moduleUrl: string, main: (args: string[]) => Promise<void>): Promise<void>;
