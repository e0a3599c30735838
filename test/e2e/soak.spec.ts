/**
 * Not a test of one thing: many hours of use in one life of the app, without the waiting (`npm run soak`). The window and not the
 * headless server, because what leaks first is what is drawn; the processes are stopped and go on as in a sleep of the machine,
 * and powerMonitor says what it says then. A process that was killed has no memory to compare, so the kills come behind.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { SettingsPatch } from '@/electron/contract/settings';
import { modelIdOf } from '@/electron/services/models/modelFiles';
import { makeDocx, paragraph } from '@/test/fixtures/documents/docx';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { type AppWindow, attachFile, enginePid, type Launch, test, tinyModel } from './app';
import { begin, call, ended, endless, newestChat, ready, send, streaming } from './chat';
import { type ProcessSeen, reportOf, takenBy } from './soakMemory';

type Step = 'answer' | 'load' | 'document' | 'sleep';

const wanted: Record<string, number> = JSON.parse(process.env.CONCERTINA_SOAK ?? '{}');
const count = (name: string) => wanted[name] ?? 0;
const seed = count('seed');
/** of the memory, over the whole run */
const samples = 48;
const answersOfChat = 8;
const keptChats = 20;
const short = 24;
const long = 400;

/** mulberry32 */
function randomFrom(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface PageCounts {
  heap: number;
  nodes: number;
  listeners: number;
  /** in the list */
  chats: number;
}

class Soak {
  readonly done: Record<string, number> = {};
  readonly processes = new Map<number, ProcessSeen>();
  sampled = 0;
  /** what of the page's memory is JavaScript, and how many things it consists of: where it grows, these tell why */
  readonly inPage: PageCounts[] = [];
  private window!: AppWindow;
  /** chat id and message id of everything that was acknowledged, with its text */
  private readonly told = new Map<string, Map<string, string>>();
  private inChat = 0;
  /** acknowledged and looked up, and what of it was not there as it was */
  messages = 0;
  readonly lost: string[] = [];
  private builtIn = '';

  constructor(
    private readonly launch: Launch,
    private readonly folder: string,
    private readonly random: () => number,
  ) {}

  get page(): Page {
    return this.window.page;
  }

  async start(): Promise<void> {
    const settings: SettingsPatch = {
      context: { nCtx: 4096, threads: 1 },
      sampling: { ...endless, maxTokens: short },
      sessions: { minTokens: 128, maxBytes: 100e6 },
    };
    // what was set before a kill stays
    this.window = await this.launch(this.builtIn ? {} : { model: tinyModel, settings });
    await ready(this.page);
    const models = await call(this.page, 'models.list', undefined);
    this.builtIn = models.find(({ id }) => id !== modelIdOf(tinyModel))?.id ?? '';
    this.inChat = 0;
  }

  count(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  /** A list that grows takes memory for a reason, so old chats are looked up and go to the trash. */
  private async newChat(): Promise<void> {
    await this.check(keptChats);
    await this.page.getByTestId('new-chat').click();
    this.inChat = 0;
  }

  async answer(): Promise<void> {
    if (this.inChat++ >= answersOfChat) await this.newChat();
    await this.ask(`Question ${this.done.answer ?? 0}: what did the clock in the hall do in the rain?`);
    await this.note();
  }

  /** In a long chat old rows leave the page, so that answers cannot be counted there. */
  private async ask(question: string): Promise<void> {
    await send(this.page, question);
    await ended(this.page);
  }

  /** Another model and back: two loads. */
  async load(): Promise<void> {
    for (const modelId of [this.builtIn, modelIdOf(tinyModel)]) {
      await call(this.page, 'models.select', { modelId });
      await ready(this.page);
    }
    this.count('load');
  }

  /** Read, asked about, and searched. */
  async document(): Promise<void> {
    const index = this.done.document ?? 0;
    const lines = Array.from(
      { length: 60 },
      (_, line) => `Lamp ${line} of harbor ${index} was lit at ${(line * 7) % 24} hours.`,
    );
    const kinds: [string, () => string | Buffer][] = [
      ['txt', () => lines.join('\n')],
      ['pdf', () => makePdf([{ lines: lines.slice(0, 40) }, { lines: lines.slice(40) }])],
      ['docx', () => makeDocx(lines.map((line) => paragraph(line)))],
      ['html', () => `<h1>Lamps</h1>${lines.map((line) => `<p>${line}</p>`).join('')}`],
    ];
    const [ending, make] = kinds[index % kinds.length] ?? kinds[0] ?? ['txt', () => ''];
    const file = path.join(this.folder, `harbor-${index}.${ending}`);
    await writeFile(file, make());
    await this.newChat();
    await attachFile(this.window, file);
    await this.ask('Which lamp was lit last?');
    await this.note();
    await this.newChat();
  }

  /** At rest or in the midst of an answer, which goes on behind it. */
  async sleep(): Promise<void> {
    const writing = (this.done.sleep ?? 0) % 2 === 1;
    if (writing) {
      await this.setLength(long);
      await send(this.page, 'Tell me all of it.');
      await streaming(this.page);
    }
    await this.suspend();
    if (!writing) return;
    this.count('sleeps in the midst of an answer');
    await ended(this.page);
    await this.setLength(short);
    await this.note();
  }

  private async suspend(): Promise<void> {
    const { app } = this.window;
    const pids = await app.evaluate(({ app: main, powerMonitor }) => {
      powerMonitor.emit('suspend');
      return main.getAppMetrics().map(({ pid }) => pid);
    });
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await new Promise((over) => setTimeout(over, 1000 * count('sleep-seconds')));
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await app.evaluate(({ powerMonitor }) => void powerMonitor.emit('resume'));
  }

  private async setLength(maxTokens: number): Promise<void> {
    await call(this.page, 'settings.update', { sampling: { ...endless, maxTokens } });
  }

  /** What the app has acknowledged: everything of the chat that is stored with its end. */
  private async note(): Promise<void> {
    const chat = await newestChat(this.page);
    const known = this.told.get(chat.id) ?? new Map<string, string>();
    for (const { id, role, text, stopReason } of chat.messages)
      if (role === 'user' || stopReason !== null) known.set(id, text);
    this.told.set(chat.id, known);
  }

  /** Behind a collection of garbage, so that what is counted is what is held. */
  async sample(): Promise<void> {
    const { app } = this.window;
    const session = await this.page.context().newCDPSession(this.page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
    await session.detach();
    const chats = (await call(this.page, 'chats.list', undefined)).length;
    this.inPage.push({ heap: usedSize, nodes, listeners: jsEventListeners, chats });
    const metrics = await app.evaluate(({ app: main }) => {
      const { v8, vm } = { v8: process.getBuiltinModule('node:v8'), vm: process.getBuiltinModule('node:vm') };
      v8.setFlagsFromString('--expose-gc');
      vm.runInNewContext('gc')();
      return main.getAppMetrics().map(({ pid, type, name }) => ({ pid, name: name ?? type }));
    });
    this.sampled++;
    for (const { pid, name } of metrics) {
      const taken = takenBy(pid);
      if (!taken) continue;
      const seen = this.processes.get(pid) ?? { pid, name, taken: [] };
      seen.taken.push(taken);
      this.processes.set(pid, seen);
    }
  }

  /** In the midst of an answer, the whole app or its engine alone. */
  async kill(): Promise<void> {
    await this.newChat();
    await this.setLength(long);
    await begin(this.page, async () => {
      await this.page.getByTestId('composer').fill(`Kill ${this.done.kill ?? 0}: tell me all of it.`);
      await this.page.getByTestId('send').click();
    });
    await this.note();
    await new Promise((over) => setTimeout(over, 600 * this.random()));
    const engine = this.random() < 0.5;
    this.count(engine ? 'kills of the engine' : 'kills of the app');
    if (engine) {
      process.kill(await enginePid(this.window.app), 'SIGKILL');
      await ended(this.page);
      await this.note();
      await call(this.page, 'engine.restart', undefined);
      await this.recover();
    } else {
      const gone = this.window.app.waitForEvent('close');
      this.window.app.process().kill('SIGKILL');
      await gone;
      await this.start();
    }
    await this.setLength(short);
  }

  private async recover(): Promise<void> {
    await expect
      .poll(async () => {
        const { state } = await call(this.page, 'engine.status', undefined);
        if (state === 'failed') await call(this.page, 'engine.reload', undefined);
        return state;
      })
      .toBe('ready');
  }

  /** Looks everything up that was acknowledged, but the last chats. */
  async check(but = 0): Promise<void> {
    for (const chatId of [...this.told.keys()].slice(0, this.told.size - but)) {
      const chat = await call(this.page, 'chats.open', { chatId }).catch(() => null);
      for (const [id, text] of this.told.get(chatId) ?? []) {
        this.messages++;
        const now = chat?.messages.find((message) => message.id === id)?.text;
        if (now !== text) this.lost.push(`${chatId} ${id}: ${JSON.stringify(text)}, now ${JSON.stringify(now)}`);
      }
      this.told.delete(chatId);
      await call(this.page, 'chats.remove', { chatId });
    }
  }
}

/** All steps in an order that chance decides, spread over the whole run. */
function planOf(random: () => number): Step[] {
  const times = {
    answer: count('answers'),
    load: Math.ceil(count('loads') / 2),
    document: count('documents'),
    sleep: count('sleeps'),
  };
  const steps = (Object.keys(times) as (keyof typeof times)[]).flatMap((step) =>
    Array.from({ length: times[step] }, (_, index) => ({ step, at: (index + random()) / times[step] })),
  );
  return steps.sort((a, b) => a.at - b.at).map(({ step }) => step);
}

test('hours of use', async ({ launch, dataDir }) => {
  test.setTimeout(0);
  test.skip(process.platform !== 'linux', 'it reads the memory of processes as Linux tells it');
  const start = performance.now();
  const random = randomFrom(seed);
  const soak = new Soak(launch, dataDir, random);
  await soak.start();
  const plan = planOf(random);
  const every = Math.max(1, Math.floor(plan.length / samples));
  for (const [index, step] of plan.entries()) {
    await soak[step]();
    soak.count(step);
    if ((index + 1) % every === 0) {
      await soak.sample();
      console.log(`${index + 1} of ${plan.length} steps, ${minutes(start)}`);
    }
  }
  // in the first minutes every process still grows
  const limit = every < 4 ? null : count('limit');
  const { lines, grown } = reportOf([...soak.processes.values()], soak.sampled, limit);
  for (let kill = 0; kill < count('kills'); kill++) {
    await soak.kill();
    soak.count('kill');
  }
  await soak.check();
  const { messages, lost } = soak;
  const page = [soak.inPage[Math.floor(soak.sampled / 3)], soak.inPage.at(-1)].map(
    (one) =>
      one &&
      `${(one.heap / 1e6).toFixed(1)} MB of JavaScript, ${one.nodes} nodes, ${one.listeners} listeners, ${one.chats} chats`,
  );
  const counts = Object.entries(soak.done).map(([what, times]) => `${what} ${times}`);
  console.log(
    [
      `\nseed ${seed}, ${minutes(start)}: ${counts.join(', ')}`,
      ...lines,
      `the page after the warm-up: ${page[0]}; at the end: ${page[1]}`,
      `${messages} messages acknowledged, ${lost.length} lost`,
    ].join('\n'),
  );
  expect(lost).toEqual([]);
  expect(grown).toEqual([]);
});

const minutes = (since: number) => `${((performance.now() - since) / 60_000).toFixed(1)} minutes`;
