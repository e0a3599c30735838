/** A child process as a forked Node process: headless mode and tests. */
import { fork } from 'node:child_process';
import { type ProcessTransport, scrubbedEnvironment } from './engineTransport';

export function forkProcess(modulePath: string, args: readonly string[] = []): ProcessTransport {
  const child = fork(modulePath, args, {
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: scrubbedEnvironment(process.env),
    execArgv: [],
  });
  return {
    pid: child.pid,
    send(message) {
      // the exit event tells that the channel is closed; a write that races with it must not throw on its own
      child.send(message as object, () => undefined);
    },
    onMessage: (listener) => void child.on('message', listener),
    onOutput(listener) {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => listener(text));
      }
    },
    onExit(listener) {
      let told = false;
      function tell(code: number | null, signal: string | null): void {
        if (!told) listener({ code, signal });
        told = true;
      }
      child.on('exit', tell);
      child.on('error', () => tell(null, null));
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
