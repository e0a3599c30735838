/** A child process as a utility process: an abort in native code ends it, and never the window or a chat. */
import { app, type Details, type MessagePortMain, utilityProcess } from 'electron';
import { type ProcessExit, type ProcessTransport, scrubbedEnvironment } from '../services/engine/engineTransport';

/** The reason of a crash follows its exit event, sometimes a little later. */
const reasonWithinMs = 200;

/** @param name shown by the system's process list; each running process needs its own, since crash reports are matched by it */
export function openUtilityProcess(name: string, modulePath: string, args: string[] = []): ProcessTransport {
  const child = utilityProcess.fork(modulePath, args, {
    serviceName: name,
    stdio: 'pipe',
    env: scrubbedEnvironment(process.env),
  });
  const exit = new Promise<ProcessExit>((resolve) => {
    const onGone = (_event: unknown, details: Details): void => {
      if (details.type !== 'Utility' || details.name !== name) return;
      app.off('child-process-gone', onGone);
      resolve(exitOf(details));
    };
    app.on('child-process-gone', onGone);
    child.once('exit', (code) => {
      setTimeout(() => {
        app.off('child-process-gone', onGone);
        resolve({ code, signal: null });
      }, reasonWithinMs);
    });
  });
  return {
    get pid() {
      return child.pid;
    },
    send: (message, port) => child.postMessage(message, port ? [port as MessagePortMain] : []),
    onMessage: (listener) => void child.on('message', listener),
    onOutput(listener) {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (data: Buffer) => listener(data.toString('utf8')));
      }
    },
    onExit: (listener) => void exit.then(listener),
    kill() {
      if (child.pid === undefined) child.once('spawn', () => killNow(child.pid));
      else killNow(child.pid);
    },
  };
}

/** The child's own kill() asks with SIGTERM, which a process that hangs may never hear. */
function killNow(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended, and the event that says so is on its way
  }
}

/** On POSIX the exit code of a process that a signal ended is the number of the signal. */
function exitOf({ reason, exitCode }: Details): ProcessExit {
  if (reason === 'killed' || reason === 'oom') return { code: exitCode, signal: 'SIGKILL' };
  return { code: exitCode, signal: reason === 'crashed' ? (signals[exitCode] ?? 'crashed') : null };
}

const signals: Record<number, string> = {
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
};
