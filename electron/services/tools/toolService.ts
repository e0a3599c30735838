/** MCP servers and what their tools take of a prompt: set up by a person, begun when they are needed, ended when nobody calls them. */
import { msg } from '@lingui/core/runtime-macro';
import type { Chat } from '../../contract/chats';
import type { Handlers } from '../../contract/contract';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import type { ToolPrice, ToolServer, ToolState } from '../../contract/tools/operations';
import type { ServerTools, ToolResult } from '../../contract/tools/process';
import { type ChatTool, type ChatTools, named, promptTools, type ToolRef, toolKey } from '../../contract/tools/tools';
import type { ChatStore } from '../chats/chatStore';
import type { EngineService } from '../engine/engineService';
import type { ProcessTransport } from '../engine/engineTransport';
import type { Keyring } from '../hub/token';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { Unsaved } from '../lib/unsaved';
import { ServerStore, type StoredServer, serversIn } from './serverStore';
import { ToolHost } from './toolHost';
import { ToolResults } from './toolResults';
import { type ToolCaller, ToolRounds } from './toolRounds';

const idleMinutes = 10;
/** characters of a command that a dialog of the system shows */
const mostOfLine = 1500;

/** What a server is at; it is not kept. */
interface Life {
  state: ToolServer['state'];
  error: ErrorPayload | null;
  found: ServerTools | null;
  connecting: Promise<void> | null;
  idle: NodeJS.Timeout | null;
  calls: number;
}

type Unnamed = Omit<ChatTool, 'name'>;

interface Parts {
  chats: Pick<ChatStore, 'open' | 'keep'>;
  engine: Pick<EngineService, 'countTokens' | 'live'>;
  systemPrompt: () => string;
  /** whether a program may be run, in the words of its command; null: nobody can be asked, and none is run */
  confirm: ((name: string, command: string) => Promise<boolean>) | null;
}

export class ToolService implements ToolCaller {
  readonly changed = new Emitter<ToolState>();
  private readonly lives = new Map<string, Life>();
  private callIds = 0;

  constructor(
    private readonly store: ServerStore,
    private readonly host: ToolHost,
    private readonly parts: Parts,
    private readonly log: Logger,
    private readonly idleMs = idleMinutes * 60_000,
  ) {
    store.changed.on(() => this.tell());
    host.gone.on(({ serverId, why }) => this.lost(serverId, new ConcertinaError('network-failed', why).toPayload()));
    host.ended.on(() => {
      for (const [id, { state }] of this.lives) if (state === 'ready') this.lost(id, null);
    });
  }

  state(): ToolState {
    const { rounds, secretsIn } = this.store;
    return { servers: this.store.list().map((server) => this.shown(server)), secretsIn, rounds };
  }

  async close(): Promise<void> {
    for (const { idle } of this.lives.values()) if (idle) clearTimeout(idle);
    await this.host.close();
  }

  async save({ serverId, draft }: Parameters<Handlers['tools.save']>[0]): Promise<{ serverId: string }> {
    if (serverId !== null) await this.disconnect(serverId);
    const id = await this.store.save(serverId, draft);
    this.lives.delete(id);
    this.tell();
    return { serverId: id };
  }

  async remove(serverId: string): Promise<void> {
    await this.disconnect(serverId);
    await this.store.remove(serverId);
    this.lives.delete(serverId);
  }

  async import(text: string): Promise<{ added: string[]; refused: { name: string; why: string }[] }> {
    const { drafts, refused } = serversIn(text);
    const added: string[] = [];
    for (const draft of drafts) {
      try {
        await this.store.save(null, draft);
        added.push(draft.name);
      } catch (error) {
        refused.push({ name: draft.name, why: toErrorPayload(error).message });
      }
    }
    return { added, refused };
  }

  /** Starts it unless it runs, and asks for its tools. What goes wrong is in its state, too. */
  connect(serverId: string): Promise<void> {
    const life = this.lifeOf(serverId);
    life.connecting ??= this.begin(serverId, life).finally(() => {
      life.connecting = null;
      this.rest(serverId, life);
    });
    return life.connecting;
  }

  async disconnect(serverId: string): Promise<void> {
    const life = this.lifeOf(serverId);
    await life.connecting?.catch(() => undefined);
    if (this.host.isRunning) await this.host.call('disconnect', { serverId }, 10_000).catch(() => undefined);
    this.change(serverId, { state: 'off', error: null });
  }

  // Calls.

  async call(tool: ChatTool, given: string, signal: AbortSignal): Promise<ToolResult> {
    const { serverId, tool: name } = tool;
    const server = this.store.get(serverId);
    const life = this.lifeOf(serverId);
    life.calls++;
    try {
      if (life.state !== 'ready') await this.connect(serverId);
      if (signal.aborted) throw new ConcertinaError('cancelled', msg`The call was canceled.`);
      const callId = `call ${++this.callIds}`;
      const cancel = () => void this.host.call('cancel', { callId }, 10_000).catch(() => undefined);
      const timeoutMs = server.timeoutSeconds * 1000;
      const canceled = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          cancel();
          reject(new ConcertinaError('cancelled', msg`The call was canceled.`));
        });
      });
      canceled.catch(() => undefined);
      const answer = this.host.call('call', { serverId, callId, tool: name, timeoutMs, arguments: given }, timeoutMs);
      return await Promise.race([answer, canceled]);
    } finally {
      life.calls--;
      this.rest(serverId, life);
    }
  }

  isAllowed({ serverId, tool }: ChatTool): boolean {
    return this.store.list().some(({ id, allowed }) => id === serverId && allowed.includes(tool));
  }

  async allow({ serverId, tool }: ChatTool): Promise<void> {
    await this.store.allow(serverId, tool, true);
  }

  mostRounds(): number {
    return this.store.rounds;
  }

  // What tools take of a prompt, and which ones a chat has.

  async price({ chatId, tools }: Parameters<Handlers['tools.price']>[0]): Promise<ToolPrice> {
    this.parts.engine.live.requireUsable();
    const chat = chatId === null ? null : await this.parts.chats.open(chatId);
    const all = this.found(chat, tools);
    const count = this.counterFor(chat);
    const bare = await count([]);
    const grownBy = async (some: ChatTool[]) => (await count(some)) - bare;
    // as if there were no other: under its own name
    const alone = (some: Unnamed[]) => grownBy(named(some)).catch(() => null);
    const servers = [...new Set(all.map(({ serverId }) => serverId))];
    return {
      total: await grownBy(named(all)),
      ofChat: await grownBy(chat?.tools.chosen ?? []),
      servers: await inOrder(servers, async (serverId) => ({
        serverId,
        tokens: await alone(all.filter((one) => one.serverId === serverId)),
      })),
      tools: await inOrder(all, async (one) => ({
        ...{ serverId: one.serverId, tool: one.tool },
        tokens: await alone([one]),
      })),
    };
  }

  /** Rejects, and changes nothing, when the model's template cannot be told of them. */
  async choose({ chatId, tools, mustCall }: Parameters<Handlers['tools.choose']>[0]): Promise<{ tools: ChatTools }> {
    const chat = await this.parts.chats.open(chatId);
    const chosen = named(this.found(chat, tools));
    if (this.parts.engine.live.current.model) await this.counterFor(chat)(chosen);
    const keys = chosen.map(toolKey);
    const allowed = chat.tools.allowed.filter((key) => keys.includes(key));
    const next = { chosen, allowed, mustCall: mustCall && chosen.length > 0 };
    await this.parts.chats.keep(chatId, { type: 'tools', tools: next });
    return { tools: next };
  }

  /** As a chat would have them. Those that a server tells of now go before those that the chat has. */
  private found(chat: Pick<Chat, 'tools'> | null, refs: readonly ToolRef[]): Unnamed[] {
    return refs.map((ref) => {
      const server = this.store.list().find(({ id }) => id === ref.serverId);
      const told = this.lives.get(ref.serverId)?.found?.tools.find(({ tool }) => tool === ref.tool);
      if (server && told) return { ...told, serverId: server.id, server: server.name };
      const had = chat?.tools.chosen.find((one) => toolKey(one) === toolKey(ref));
      if (had) return had;
      throw new ConcertinaError(
        'not-found',
        msg`There is no tool ${{ tool: ref.tool }} here now.`,
        msg`Start its server, and choose again.`,
      );
    });
  }

  /** Tokens of the beginning of a chat with these tools. */
  private counterFor(chat: Pick<Chat, 'systemPrompt' | 'createdAt'> | null): (tools: ChatTool[]) => Promise<number> {
    const system = chat?.systemPrompt ?? this.parts.systemPrompt();
    const now = chat?.createdAt ?? Date.now();
    const messages = [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user' as const, content: 'Hello' },
    ];
    return async (chosen) =>
      (await this.parts.engine.countTokens(messages, { now, tools: promptTools({ chosen }) })).tokens;
  }

  // The life of a server.

  private async begin(serverId: string, life: Life): Promise<void> {
    const server = this.store.get(serverId);
    this.change(serverId, { state: 'starting', error: null });
    try {
      await this.requireConfirmed(server);
      const timeoutMs = server.timeoutSeconds * 1000;
      // its pages and its start have the time of a request each
      const found = await this.host.call(
        'connect',
        { serverId, place: this.store.placeOf(server), timeoutMs },
        3 * timeoutMs,
      );
      life.found = found;
      this.change(serverId, { state: 'ready' });
    } catch (error) {
      const payload = toErrorPayload(error);
      this.log.warn(`The tool server ${server.name} could not be used (${payload.code}).`);
      this.change(serverId, { state: 'failed', error: payload });
      throw error;
    }
  }

  /** A page that was taken over must not be able to run programs: that is asked by the system's own dialog, which shows all of it. */
  private async requireConfirmed({ id, name, place, secretNames, confirmed }: StoredServer): Promise<void> {
    if (place.kind !== 'command' || confirmed) return;
    if (!this.parts.confirm) {
      throw new ConcertinaError(
        'forbidden',
        msg`Tool servers that are programs run in the desktop app only.`,
        msg`Start the program yourself, with HTTP, and add its address.`,
      );
    }
    const quoted = (word: string) => (/[\s"]/.test(word) ? JSON.stringify(word) : word);
    const line = [
      ...(place.folder ? [`cd ${quoted(place.folder)} &&`] : []),
      // a variable can make another program of it
      ...secretNames.map((variable) => `${variable}=•••`),
      ...[place.command, ...place.args].map(quoted),
    ].join(' ');
    if (line.length > mostOfLine) {
      throw new ConcertinaError(
        'bad-request',
        msg`The command is too long to be shown in full before it runs: ${{ length: line.length }} characters, at most ${{ most: mostOfLine }} are possible.`,
        msg`Put it into a script, and name the script here.`,
      );
    }
    if (!(await this.parts.confirm(name, line))) {
      throw new ConcertinaError(
        'forbidden',
        msg`The program was not allowed to run.`,
        msg`Connect it again to be asked again.`,
      );
    }
    await this.store.confirm(id);
  }

  private lost(serverId: string, error: ErrorPayload | null): void {
    if (error) this.log.warn('A tool server ended.');
    this.change(serverId, { state: error ? 'failed' : 'off', error });
  }

  private rest(serverId: string, life: Life): void {
    if (life.idle) clearTimeout(life.idle);
    life.idle = setTimeout(() => life.calls === 0 && void this.disconnect(serverId), this.idleMs);
    life.idle.unref();
  }

  private lifeOf(serverId: string): Life {
    const known = this.lives.get(serverId);
    if (known) return known;
    const life: Life = { state: 'off', error: null, found: null, connecting: null, idle: null, calls: 0 };
    this.lives.set(serverId, life);
    return life;
  }

  private change(serverId: string, change: Partial<Life>): void {
    Object.assign(this.lifeOf(serverId), change);
    this.tell();
  }

  private tell(): void {
    this.changed.emit(this.state());
  }

  private shown(server: StoredServer): ToolServer {
    const { id, name, place, secretNames, timeoutSeconds, allowed } = server;
    const { state, error, found } = this.lifeOf(id);
    const { title = '', version = '', tools = null, refused = [] } = found ?? {};
    return { id, name, place, secretNames, timeoutSeconds, allowed, state, error, title, version, tools, refused };
  }
}

async function inOrder<T, R>(list: readonly T[], step: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const one of list) results.push(await step(one));
  return results;
}

type ToolNames = Extract<keyof Handlers, `tools.${string}`>;

export function createToolHandlers({ tools, rounds, store }: Tools): Pick<Handlers, ToolNames> {
  return {
    'tools.state': async () => tools.state(),
    'tools.save': (asked) => tools.save(asked),
    'tools.remove': ({ serverId }) => tools.remove(serverId),
    'tools.connect': ({ serverId }) => tools.connect(serverId),
    'tools.disconnect': ({ serverId }) => tools.disconnect(serverId),
    'tools.import': ({ text }) => tools.import(text),
    'tools.setRounds': ({ rounds: most }) => store.setRounds(most),
    'tools.forget': ({ serverId, tool }) => store.allow(serverId, tool, false),
    'tools.price': (asked) => tools.price(asked),
    'tools.choose': (asked) => tools.choose(asked),
    'tools.answer': (asked) => rounds.answer(asked),
    'tools.cancel': async ({ messageId, callId }) => rounds.cancel(messageId, callId),
  };
}

interface ToolsSetUp {
  /** its file */
  path: string;
  keyring: Keyring | null;
  unsaved: Unsaved;
  openProcess: () => ProcessTransport;
  chats: ChatStore;
  engine: EngineService;
  systemPrompt: () => string;
  confirm: Parts['confirm'];
  /** what results that are too long become */
  reading: Omit<ConstructorParameters<typeof ToolResults>[0], 'engine' | 'log'>;
  log: Logger;
}

export type Tools = Awaited<ReturnType<typeof setUpTools>>;

export async function setUpTools({ path, keyring, unsaved, openProcess, reading, log, ...parts }: ToolsSetUp) {
  const store = new ServerStore(path, keyring, unsaved);
  await store.load();
  const tools = new ToolService(store, new ToolHost(openProcess, log), parts, log);
  const results = new ToolResults({ ...reading, engine: parts.engine, log });
  return { store, tools, rounds: new ToolRounds(tools, parts.chats, results) };
}
