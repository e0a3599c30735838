/** How this process reaches its parent: as a utility process of Electron, or as a forked Node process (headless mode). */

/** A window's end of a message channel. */
export interface WindowPort {
  postMessage(message: unknown): void;
  on(event: 'close', listener: () => void): unknown;
  start(): void;
}

export interface ParentPort {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** only in Electron: the main process hands over a port for each window */
  onPort(listener: (port: WindowPort) => void): void;
}

export function openParentPort(): ParentPort {
  return process.parentPort ? ofUtilityProcess(process.parentPort) : ofFork();
}

function ofUtilityProcess(parent: NonNullable<typeof process.parentPort>): ParentPort {
  return {
    send: (message) => parent.postMessage(message),
    onMessage: (listener) => void parent.on('message', (event) => listener(event.data)),
    onPort: (listener) =>
      void parent.on('message', (event) => {
        for (const port of event.ports) listener(port);
      }),
  };
}

function ofFork(): ParentPort {
  // the parent is gone: nobody can read an answer any more
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches every process of the terminal: the parent stops the answer first and then ends this one
  process.on('SIGINT', () => undefined);
  return {
    send: (message) => void process.send?.(message as object),
    onMessage: (listener) => void process.on('message', listener),
    onPort: () => undefined,
  };
}
