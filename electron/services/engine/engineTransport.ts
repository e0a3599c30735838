/** How the app reaches a child process of its own. Electron brings utility processes, headless mode forked Node processes. */

import { fork } from 'node:child_process';
import type { Socket } from 'node:net';

export interface ProcessExit {
  code: number | null;
  /** name of the signal that ended it, where the platform reports it */
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

const keptVariables = [
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|LANG|LC_.*|SYSTEMROOT|WINDIR|GGML_.*|GOMP_.*|OMP_.*|CONCERTINA_.*)$/i,
  // which GPUs there are, and where their drivers lie: without them the engine would find others than the shell has
  /^(CUDA_.*|VK_.*|LD_LIBRARY_PATH|XDG_DATA_(DIRS|HOME)|XDG_CONFIG_(DIRS|HOME)|DRI_PRIME|MESA_.*|RADV_.*|__NV_PRIME_.*)$/i,
];

/**
 * How long a thread of libgomp waits for the others before it sleeps. Its own default is longer than a time slice: where other
 * programs want the cores too, a waiting thread burns the time that the thread it waits for needs, and the built-in model's
 * calibration takes 20 s in place of 3 s.
 */
export const spinCount = 30_000;

const isKept = (name: string) => keptVariables.some((pattern) => pattern.test(name));

/**
 * A child process needs no secrets of the shell that the app was started from. An assertion of ggml that fails would start
 * gdb or lldb from PATH.
 */
export function scrubbedEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(environment).filter(([name, value]) => value !== undefined && isKept(name));
  return {
    GOMP_SPINCOUNT: String(spinCount),
    ...(Object.fromEntries(kept) as Record<string, string>),
    GGML_NO_BACKTRACE: '1',
  };
}

/**
 * A child process as a forked Node process: headless mode and tests.
 * @param environment besides what is let through; only a test has any
 */
export function forkProcess(
  modulePath: string,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): ProcessTransport {
  const child = fork(modulePath, args, {
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...scrubbedEnvironment(process.env), ...environment },
    execArgv: [],
  });
  // a program that it started, such as a driver's helper, may have the other ends and live on: this process need not
  child.once('exit', () => {
    for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
  });
  return {
    pid: child.pid,
    send(message) {
      // the exit event reports the closed channel; a write that races with it must not throw on its own
      child.send(message as object, () => undefined);
    },
    onMessage: (listener) => void child.on('message', listener),
    onOutput(listener) {
      for (const stream of [child.stdout, child.stderr]) {
        // the pipe of a process that was killed can end with ECONNRESET: the exit event reports that
        stream
          ?.setEncoding('utf8')
          .on('data', (text: string) => listener(text))
          .on('error', () => undefined);
      }
    },
    onExit(listener) {
      let ended = false;
      function onEnd(code: number | null, signal: string | null): void {
        if (!ended) listener({ code, signal });
        ended = true;
      }
      child.on('exit', onEnd);
      child.on('error', () => onEnd(null, null));
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
