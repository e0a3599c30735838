/** The process that talks to MCP servers: begun when it is needed, ended when it hangs, and nothing of it left behind. */
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { createRemote, type InputOf, type OutputOf, type Remote } from '../../contract/rpc';
import { type ToolProcessEvents, type ToolProcessOperations, toolProcessEvents } from '../../contract/tools/process';
import { endGroup } from '../../workers/processGroup';
import type { ProcessTransport } from '../engine/engineTransport';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';

/** Beyond the time that a request has: a process that has not answered by then hangs. */
const graceMs = 10_000;

interface Running {
  transport: ProcessTransport;
  remote: Remote<ToolProcessOperations, ToolProcessEvents>;
  gone: Promise<unknown>;
}

export class ToolHost {
  readonly gone = new Emitter<{ serverId: string; why: string }>();
  /** the process ended: no server is connected */
  readonly ended = new Emitter<void>();
  private running: Running | null = null;
  private readonly children = new Map<string, number>();

  constructor(
    private readonly open: () => ProcessTransport,
    private readonly log: Logger,
    private readonly grace = graceMs,
  ) {}

  /** `timeoutMs`: what the process gives the server; it is ended when it says nothing for longer. */
  async call<N extends keyof ToolProcessOperations & string>(
    name: N,
    input: InputOf<ToolProcessOperations[N]>,
    timeoutMs: number,
  ): Promise<OutputOf<ToolProcessOperations[N]>> {
    const running = this.running ?? this.start();
    const timer = setTimeout(() => {
      this.log.error(`The process of the tools did not answer ${name} in time, and was ended.`);
      running.transport.kill();
    }, timeoutMs + this.grace);
    try {
      return await running.remote.client.call(name, input);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether there is anything to disconnect from. */
  get isRunning(): boolean {
    return this.running !== null;
  }

  async close(): Promise<void> {
    const { running } = this;
    if (!running) return;
    running.transport.kill();
    await running.gone;
  }

  private start(): Running {
    const transport = this.open();
    const remote = createRemote<ToolProcessOperations, ToolProcessEvents>(toolProcessEvents, (message) =>
      transport.send(message),
    );
    const gone = new Promise<void>((resolve) => {
      transport.onExit(() => {
        if (this.running?.transport === transport) this.running = null;
        this.endChildren();
        remote.fail(new ConcertinaError('network-failed', msg`The process of the tools ended.`, msg`Try again.`));
        this.ended.emit();
        resolve();
      });
    });
    transport.onMessage((message) => remote.receive(message));
    // what a library prints may hold anything: it is read, and not kept
    transport.onOutput(() => undefined);
    remote.client.on('onChild', ({ serverId, pid }) => {
      if (pid === null) this.children.delete(serverId);
      else this.children.set(serverId, pid);
    });
    remote.client.on('onGone', (event) => this.gone.emit(event));
    this.running = { transport, remote, gone };
    return this.running;
  }

  /** A process that was killed could not end them itself. */
  private endChildren(): void {
    for (const pid of this.children.values()) endGroup(pid);
    this.children.clear();
  }
}
