/**
 * The app, or its engine alone, is killed (-9) at random frames of streamed answers while sessions are saved and restored.
 * Afterwards every chat opens, all that had come to the disk is there, and after the end of the engine all that was shown; every
 * file can be read, and nothing half written is left. That text comes to the disk within a second is tested on a clock of its own
 * (turnService.test.ts); here the age of what was lost is printed. ROUNDS kills (5); `npm run test:faults` makes it 100. SEED
 * repeats a run, as far as a machine can.
 */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Turn } from '@/electron/contract/chatOperations';
import { type Chat, canGoOn, type Message } from '@/electron/contract/chats';
import { messagesOf } from '@/electron/workers/searcher';
import { type HeadlessApp, startHeadlessApp } from '../../fixtures/headlessApp';
import { filler, randomFrom, temporaryFolder } from '../support';

const rounds = Number(process.env.ROUNDS ?? 5);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
/** of an answer, which comes in forty of them a second at the most; it may end before */
const mostFrames = 60;

/** A line of an answer, and when it came. */
interface Seen {
  text: string;
  at: number;
}

interface Loss {
  killed: 'app' | 'engine';
  ms: number;
  characters: number;
}

class Killer {
  readonly losses: Loss[] = [];
  readonly phases: Record<string, number> = {};
  torn = 0;
  app!: HeadlessApp;
  private readonly seen = new Map<string, Seen[]>();
  private readonly finals = new Map<string, Message>();
  private phase = '';
  /** of the answer that is being written, with text or without */
  private frames = 0;
  private waiting: () => void = () => undefined;

  constructor(
    private readonly data: string,
    private readonly random: () => number,
  ) {}

  async start(): Promise<void> {
    this.app = await startHeadlessApp(this.data);
    const { client } = this.app;
    client.on('onStream', ({ messageId, text, stats }) => {
      this.phase = stats.phase;
      this.frames++;
      if (text) this.seen.set(messageId, [...(this.seen.get(messageId) ?? []), { text, at: performance.now() }]);
      this.waiting();
    });
    client.on('onMessage', ({ message }) => {
      if (message.stopReason !== null) this.finals.set(message.id, message);
      this.waiting();
    });
    await this.ready();
  }

  /** The engine is not started again by itself more than once a minute: a person asks for it. */
  async ready(): Promise<void> {
    await vi.waitFor(
      async () => {
        const { state } = await this.app.client.call('engine.status', undefined);
        if (state === 'failed' || state === 'restarting') await this.app.client.call('engine.reload', undefined);
        expect(state).toBe('ready');
      },
      { interval: 50 },
    );
  }

  /** Asked again with everything that comes from the app. */
  private until(reached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiting = () => reached() && resolve();
      this.waiting();
    });
  }

  /** A question, or an answer that broke off before, and a kill in the midst of it. */
  async round(chatId: string): Promise<void> {
    const { client } = this.app;
    const chat = await client.call('chats.open', { chatId });
    const last = chat.messages.find(({ id }) => id === chat.leafId);
    const goOn = last !== undefined && canGoOn(last.stopReason) && this.random() < 0.5;
    const before = goOn ? last.text : '';
    this.phase = 'waiting';
    this.frames = 0;
    if (goOn) {
      this.seen.delete(last.id);
      this.finals.delete(last.id);
    }
    const turn: Turn = goOn
      ? await client.call('turns.continue', { chatId, messageId: last.id })
      : await client.call('turns.send', { chatId, parentId: last?.id ?? null, text: questionOf(chat) });
    const { id } = turn.assistantMessage;
    const ended = () => this.finals.has(id);
    const someFrames = () => Math.floor(this.random() * mostFrames);
    let frames = someFrames();
    await this.until(() => ended() || this.frames >= frames);
    // now and then at a moment at which a part of it is on the disk, and more has come since
    if (this.random() < 0.5) {
      await vi.waitFor(() => expect(ended() || this.onDisk(chatId, id).length > before.length).toBe(true));
      frames = this.frames + someFrames() / 2;
      await this.until(() => ended() || this.frames >= frames);
    }
    const phase = ended() ? 'ended' : this.phase;
    this.phases[phase] = (this.phases[phase] ?? 0) + 1;
    const at = performance.now();
    // in turn: a few kills are to be of both
    const killed = this.losses.length % 2 === 0 && this.app.killEngine() ? 'engine' : 'app';
    let written = '';
    if (killed === 'engine') await this.until(ended);
    else {
      await this.app.kill();
      this.checkFiles();
      written = this.onDisk(chatId, id);
      await this.start();
    }
    const kept = await this.check(chat, id, before);
    // nothing of what the app had is lost with its engine, and nothing of what is on the disk with the app
    if (killed === 'engine') expect(kept.length).toBeGreaterThanOrEqual(before.length + this.shown(id).length);
    else expect(kept).toBe(written);
    this.losses.push({ killed, ...this.lossOf(id, kept.length - before.length, at) });
    await this.ready();
  }

  private shown(id: string): string {
    return (this.seen.get(id) ?? []).map(({ text }) => text).join('');
  }

  /** The text of a message by the log of its chat, as the search reads it, which knows nothing of the app's own reader. */
  private onDisk(chatId: string, id: string): string {
    const log = fs.readFileSync(path.join(this.data, 'chats', `${chatId}.jsonl`), 'utf8');
    return messagesOf(log).find((message) => message.id === id)?.text ?? '';
  }

  private lossOf(id: string, kept: number, at: number): Omit<Loss, 'killed'> {
    const first = firstBeyond(this.seen.get(id) ?? [], kept);
    return { ms: Math.max(0, at - (first?.at ?? at)), characters: Math.max(0, this.shown(id).length - kept) };
  }

  /** Every line of every log, as it is on the disk: only the one that was being written may be cut off. */
  private checkFiles(): void {
    for (const name of fs.readdirSync(path.join(this.data, 'chats'))) {
      if (!name.endsWith('.jsonl')) continue;
      const lines = fs.readFileSync(path.join(this.data, 'chats', name), 'utf8').split('\n');
      if (lines.pop() !== '') this.torn++;
      for (const line of lines) expect(() => JSON.parse(line), `${name}: ${line.slice(0, 80)}`).not.toThrow();
    }
  }

  /** @returns the text of the answer */
  private async check(before: Chat, id: string, begun: string): Promise<string> {
    const after = await this.app.client.call('chats.open', { chatId: before.id });
    const kept = after.messages.find((message) => message.id === id);
    if (!kept) throw new Error('The answer is gone.');
    for (const message of before.messages) {
      if (message.id !== id) expect(after.messages).toContainEqual(message);
    }
    expect(kept.stopReason).not.toBeNull();
    // it begins as it was shown; what reached the disk just before the kill may not have been shown any more
    const text = begun + this.shown(id);
    const common = Math.min(kept.text.length, text.length);
    expect(kept.text.slice(0, common)).toBe(text.slice(0, common));
    return kept.text;
  }
}

/** The first piece that goes beyond so many characters. */
function firstBeyond(shown: readonly Seen[], characters: number): Seen | undefined {
  let length = 0;
  for (const one of shown) {
    length += one.text.length;
    if (length > characters) return one;
  }
  return undefined;
}

/** The first question brings a text that is long enough to be saved as a session. */
function questionOf(chat: Chat): string {
  const ask = 'Tell me a long story about the old clock, the rain and the harbour lamp.';
  return chat.messages.length === 0 ? `${chat.title}. ${filler(40)}\n\n${ask}` : ask;
}

/** Half written files of a former run. */
function strays(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(tmp|part)$/.test(name));
}

it(
  `${rounds} kills in the midst of answers lose nothing that was written down`,
  async () => {
    const data = temporaryFolder();
    const killer = new Killer(data, randomFrom(seed));
    onTestFinished(() => killer.app.kill());
    await killer.start();
    const { client } = killer.app;
    await client.call('settings.update', {
      context: { nCtx: 4096, threads: 1 },
      // nearly uniform: such an answer hardly ever ends by itself
      sampling: { temperature: 5, topK: 0, topP: 1, minP: 0, maxTokens: 3000 },
      sessions: { minTokens: 128, maxBytes: 200e6 },
      overflow: 'roll',
    });
    await killer.ready();
    const chatIds: string[] = [];
    for (const title of ['First', 'Second', 'Third']) chatIds.push((await client.call('chats.create', { title })).id);
    for (let round = 0; round < rounds; round++) await killer.round(chatIds[round % chatIds.length] ?? '');

    await killer.app.close();
    await killer.start();
    expect(strays(data)).toEqual([]);
    const opened = await Promise.all(chatIds.map((chatId) => killer.app.client.call('chats.open', { chatId })));
    const questions = opened.flatMap(({ messages }) => messages).filter(({ role }) => role === 'user');
    expect(questions.length).toBeGreaterThan(rounds / 4);
    for (const { damagedLines, messages } of opened) {
      expect(damagedLines).toBe(0);
      expect(messages.every(({ role, stopReason }) => role === 'user' || stopReason !== null)).toBe(true);
    }
    for (const { problem } of await killer.app.client.call('sessions.list', undefined)) expect(problem).toBeNull();
    await killer.app.close();

    const { losses, phases, torn } = killer;
    const worst = losses.reduce((most, loss) => (loss.ms > most.ms ? loss : most));
    const apps = losses.filter(({ killed }) => killed === 'app');
    console.log(
      `${losses.length} kills (${apps.length} of the app, ${losses.length - apps.length} of the engine), seed ${seed}; ` +
        `during ${Object.entries(phases)
          .map(([phase, count]) => `${phase} ${count}`)
          .join(', ')}. ` +
        `Answers that lost text: ${losses.filter(({ characters }) => characters > 0).length}; ` +
        `most: ${worst.characters} characters, the first of them ${Math.round(worst.ms)} ms old. Torn last lines: ${torn}.`,
    );
  },
  120_000 + rounds * 60_000,
);
