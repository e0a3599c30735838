/** How the app reaches a child process of its own. Electron brings utility processes, headless mode forked Node processes. */

export interface ProcessExit {
  code: number | null;
  /** name of the signal that ended it, where the platform tells */
  signal: string | null;
}

/** One child process, from its start to its exit. */
export interface ProcessTransport {
  readonly pid: number | undefined;
  /** `port`: a window's end of a message channel, handed over with the message (Electron only) */
  send(message: unknown, port?: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** what the process wrote to stdout and stderr, in pieces */
  onOutput(listener: (text: string) => void): void;
  /** exactly once */
  onExit(listener: (exit: ProcessExit) => void): void;
  kill(): void;
}

const keptVariables =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|LANG|LC_.*|SYSTEMROOT|WINDIR|GGML_.*|OMP_.*|CONCERTINA_.*)$/i;

/**
 * A child process needs no secrets of the shell that the app was started from. An assertion of ggml that fails would start
 * gdb or lldb from PATH.
 */
export function scrubbedEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(environment).filter(([name, value]) => value !== undefined && keptVariables.test(name));
  return { ...(Object.fromEntries(kept) as Record<string, string>), GGML_NO_BACKTRACE: '1' };
}
