/** How the host reaches an engine process. Electron brings a utility process, headless mode a forked Node process. */

export interface EngineExit {
  code: number | null;
  /** name of the signal that ended it, where the platform tells */
  signal: string | null;
}

/** One engine process, from its start to its exit. */
export interface EngineTransport {
  readonly pid: number | undefined;
  /** `port`: a window's end of a message channel, handed over with the message (Electron only) */
  send(message: unknown, port?: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** what the process wrote to stdout and stderr, in pieces */
  onOutput(listener: (text: string) => void): void;
  /** exactly once */
  onExit(listener: (exit: EngineExit) => void): void;
  kill(): void;
}

const keptVariables =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|LANG|LC_.*|SYSTEMROOT|WINDIR|GGML_.*|OMP_.*|CONCERTINA_.*)$/i;

/** The engine needs no secrets of the shell that the app was started from. */
export function scrubbedEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(environment).filter(([name, value]) => value !== undefined && keptVariables.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
