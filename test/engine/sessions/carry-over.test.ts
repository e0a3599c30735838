/** A context that is created again on the same model: what its cache holds is taken over where it means the same. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import { writeAdapter } from '../adapter';
import { calibrationText, engineServer, filler, request, temporaryFolder, tinyModel } from '../support';

const base = contextSettingsSchema.parse({ nCtx: 2048, threads: 1 });
const fact = 'The special magic number for Fresno is 77763886.';
const first = `${filler(30)}${fact}\n\n${filler(20)}What is the special magic number for Fresno?`;

type Messages = GenerateRequest['messages'];

/** A server with a chat: each question is asked below the answers before it. */
/** Where an import has a file. */
function sharedScratch(): string {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, 'chats.jsonl'), '');
  return folder;
}

function setUp(scratch = sharedScratch()) {
  const steps: string[] = [];
  const { handlers } = engineServer({ loadProgress: (step) => steps.push(step) });
  const folder = path.join(temporaryFolder(), 'calibrations');
  const places = { calibration: { folder, textFile: calibrationText }, scratch };
  const messages: Messages = [];

  async function load(changes: Partial<ContextSettings> = {}) {
    steps.length = 0;
    const result = await handlers.load({ path: tinyModel, context: { ...base, ...changes }, ...places });
    return { ...result, steps: [...new Set(steps)], left: fs.existsSync(scratch) && fs.readdirSync(scratch) };
  }

  async function ask(content: string) {
    messages.push({ role: 'user', content });
    const { text, stats } = await handlers.generate(request({ requestId: `r${messages.length}`, messages }));
    messages.push({ role: 'assistant', content: text });
    return { text, stats };
  }

  return { load, ask };
}

describe('a new context on the same model', () => {
  it.each([
    ['a longer context', { nCtx: 4096 }],
    ['a shorter one that still holds the chat', { nCtx: 1280 }],
    ['another batch and threads', { batch: 128, threads: 2 }],
  ])('%s keeps the cache: the next question reads only what is new', async (_, changes) => {
    const { load, ask } = setUp();
    expect(await load()).toMatchObject({ carriedTokens: 0, steps: ['weights', 'calibration'] });
    const before = await ask(first);
    expect(before.text).toContain('77763886');
    const again = await load(changes);
    expect(again).toMatchObject({ carriedTokens: before.stats.contextUsed, steps: ['cache'], left: ['chats.jsonl'] });
    expect(again.context.notes).toEqual([]);
    const after = await ask('What is the special magic number for Fresno?');
    expect(after.text).toContain('77763886');
    expect(after.stats.cachedTokens).toBe(before.stats.contextUsed);
    expect(after.stats.cachedTokens / after.stats.promptTokens).toBeGreaterThan(0.95);
  });

  it.each([
    ['another type', { typeV: 'turbo3' as const }],
    ['other attention', { typeK: 'f16' as const, typeV: 'f16' as const, flashAttention: 'off' as const }],
    ['positions that are stretched', { nCtx: 16_384, rope: 'yarn' as const }],
  ])('%s reads the chat again, and answers', async (_, changes) => {
    const { load, ask } = setUp();
    await load();
    await ask(first);
    const again = await load(changes);
    expect(again).toMatchObject({ carriedTokens: 0 });
    expect(again.steps).not.toContain('cache');
    const after = await ask('What is the special magic number for Fresno?');
    expect(after.stats.cachedTokens).toBe(0);
    expect(after.text).toContain('77763886');
  });

  it('adapters and their scales: the weights stay, the chat is read again', async () => {
    const { load, ask } = setUp();
    const model = writeAdapter(temporaryFolder());
    const adapters = (scale: number) => ({ adapters: [{ model, scale }] });
    await load();
    await ask(first);
    for (const changes of [adapters(0.25), adapters(0.5), { adapters: [] }]) {
      const again = await load(changes);
      expect(again).toMatchObject({ carriedTokens: 0, steps: [] });
      expect(again.context.adapters.map(({ scale }) => scale)).toEqual(changes.adapters.map(({ scale }) => scale));
      expect((await ask('And now?')).stats.cachedTokens).toBe(0);
    }
    await load(adapters(0.5));
    const { stats } = await ask('And now?');
    expect(await load({ ...adapters(0.5), nCtx: 4096 })).toMatchObject({ carriedTokens: stats.contextUsed });
  });

  it('a cache that cannot be written down is read again, and a notice says so', async () => {
    const occupied = path.join(temporaryFolder(), 'file');
    fs.writeFileSync(occupied, '');
    const { load, ask } = setUp(path.join(occupied, 'scratch'));
    await load();
    await ask(first);
    const again = await load({ nCtx: 4096 });
    expect(again.carriedTokens).toBe(0);
    expect(again.context.notes).toEqual([expect.stringContaining('The chat is read again')]);
    expect((await ask('What is the special magic number for Fresno?')).text).toContain('77763886');
  });
});
