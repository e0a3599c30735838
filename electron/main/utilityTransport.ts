/** Engine process as a utility process: an abort in native code ends it, and never the window or a chat. */
import { type MessagePortMain, utilityProcess } from 'electron';
import { type EngineTransport, scrubbedEnvironment } from './services/engineTransport';

export function openUtilityEngine(modulePath: string): EngineTransport {
  const child = utilityProcess.fork(modulePath, [], {
    serviceName: 'Concertina engine',
    stdio: 'pipe',
    env: scrubbedEnvironment(process.env),
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
    onExit: (listener) => void child.on('exit', (code) => listener(exitOf(code))),
    kill: () => void child.kill(),
  };
}

/** On POSIX a process that a signal ended reports the signal in place of a code. */
function exitOf(code: number): { code: number; signal: string | null } {
  return { code, signal: null };
}
