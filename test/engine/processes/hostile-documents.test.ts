/**
 * Documents that unpack to gigabytes, attached to the app (headless mode, a process of its own) while the real engine writes
 * answers: what all processes take together, and what becomes of the answers. Linux: the memory is read from /proc.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { isInspector } from '@/electron/contract/engineContract';
import { docxBomb, pdfBomb } from '../../fixtures/documents/bombs';
import { makeDocx, paragraph } from '../../fixtures/documents/docx';
import { makePdf } from '../../fixtures/documents/pdf';
import { type HeadlessApp, startHeadlessApp } from '../../fixtures/headlessApp';
import { temporaryFolder } from '../support';

const mostBytes = 1e9;
const tooLarge = expect.stringContaining('too large when it is unpacked');
const damaged = expect.stringContaining('damaged');

/** in order: what is attached, and the message of its error; null: it is read */
const documents: [name: string, bytes: () => Buffer, refusal: unknown][] = [
  ['first.pdf', () => makePdf([{ lines: ['An ordinary page.'] }]), null],
  ['two layers.pdf', () => pdfBomb(2e9, 2), tooLarge],
  ['one layer.pdf', () => pdfBomb(2e9, 1), tooLarge],
  ['bomb.docx', () => docxBomb(2e9), tooLarge],
  ['lying bomb.docx', () => docxBomb(2e9, 5e6), damaged],
  // below every limit while it is packed, and too much as a tree of elements
  ['many.docx', () => makeDocx(Array.from({ length: 400_000 }, (_, n) => paragraph(`Paragraph ${n}`))), tooLarge],
  ['last.pdf', () => makePdf([{ lines: ['Another ordinary page.'] }]), null],
];

it.runIf(process.platform === 'linux')(
  'hostile documents leave the memory of the machine and the answer of the moment alone',
  async () => {
    const data = temporaryFolder();
    const app = await startHeadlessApp(data);
    onTestFinished(() => app.close());
    const { client } = app;
    await client.call('settings.update', {
      context: { nCtx: 2048, threads: 1 },
      // nearly uniform: such an answer hardly ever ends by itself
      sampling: { temperature: 5, topK: 0, topP: 1, minP: 0, maxTokens: 500 },
    });
    await vi.waitFor(async () => expect((await client.call('engine.status', undefined)).state).toBe('ready'), 60_000);
    const engine = engines(app);
    expect(engine).toHaveLength(1);

    const writer = new Writer(app);
    const written = writer.run();
    await writer.begun;
    const paths = documents.map(([name, bytes]) => {
      const file = path.join(data, name);
      fs.writeFileSync(file, bytes());
      return file;
    });
    const ids = await client.call('documents.addPaths', { paths });
    const { jobs, peak } = await watched(app, ids);
    writer.stop();
    const answers = await written;

    console.log(`peak of all processes: ${Math.round(peak / 1e6)} MB; ${answers.length} answers meanwhile`);
    expect(jobs.map(({ error }) => error?.message ?? null)).toEqual(documents.map(([, , refusal]) => refusal));
    expect(jobs.map(({ state }) => state)).toEqual(documents.map(([, , refusal]) => (refusal ? 'failed' : 'done')));
    expect(peak).toBeLessThan(mostBytes);
    for (const { stopReason } of answers) expect(['max-tokens', 'end-of-turn']).toContain(stopReason);
    expect(engines(app)).toEqual(engine);
    expect(running(app, 'documents.cjs')).toEqual([]);
  },
  300_000,
);

/** Has one answer written after the other, each in a chat of its own, so that at every moment there is one. */
class Writer {
  readonly begun: Promise<void>;
  private stopped = false;
  private readonly finals = new Map<string, Message>();

  constructor(private readonly app: HeadlessApp) {
    this.begun = new Promise((resolve) => app.client.on('onStream', ({ text }) => text && resolve()));
    app.client.on('onMessage', ({ message }) => {
      if (message.stopReason !== null) this.finals.set(message.id, message);
    });
  }

  async run(): Promise<Message[]> {
    const answers: Message[] = [];
    while (!this.stopped) answers.push(await this.answer());
    return answers;
  }

  /** The answer of the moment is still written to its end. */
  stop(): void {
    this.stopped = true;
  }

  private async answer(): Promise<Message> {
    const { client } = this.app;
    const { id: chatId } = await client.call('chats.create', {});
    const { assistantMessage } = await client.call('turns.send', { chatId, parentId: null, text: 'Tell me a story.' });
    return vi.waitFor(() => {
      const final = this.finals.get(assistantMessage.id);
      if (!final) throw new Error('not yet');
      return final;
    }, 60_000);
  }
}

/** Looks at the memory a hundred times a second until these jobs have ended: what reads them takes longer to fill it. */
async function watched(app: HeadlessApp, ids: string[]) {
  let jobs = await app.client.call('documents.jobs', undefined);
  app.client.on('onDocumentJobs', (now) => {
    jobs = now;
  });
  let peak = 0;
  const ended = () =>
    jobs.filter(({ id, state }) => ids.includes(id) && ['done', 'failed', 'cancelled'].includes(state));
  while (ended().length < ids.length) {
    const pids = app.processes();
    // to add up shared pages by their sharers takes milliseconds, and is never more
    if (sumOf(pids, residentSize) > peak) peak = Math.max(peak, sumOf(pids, proportionalSize));
    await delay(10);
  }
  return { jobs: ended(), peak };
}

/** Ids of the child processes that run this bundle. */
function running(app: HeadlessApp, bundle: string): number[] {
  return app.processes().filter((pid) => procFile(pid, 'cmdline').includes(bundle));
}

/** Of the processes that run its bundle, the one that writes answers; the other looks at model files, and comes and goes. */
function engines(app: HeadlessApp): number[] {
  return running(app, 'engine.cjs').filter((pid) => !isInspector(procFile(pid, 'cmdline').split('\0')));
}

function sumOf(pids: number[], bytesOf: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + bytesOf(pid), 0);
}

/** Every page that is in memory, also those of others. */
function residentSize(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(procFile(pid, 'status'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Shared pages are shared out among those who share them. */
function proportionalSize(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(procFile(pid, 'smaps_rollup'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** '': it has ended since it was listed. */
function procFile(pid: number, name: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
