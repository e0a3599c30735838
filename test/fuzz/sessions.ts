/** Saved sessions and measurements of a model (calibrations) with changed bytes, restored by the real engine, in this process. */
import fs from 'node:fs';
import path from 'node:path';
import { loadEngine } from '@/electron/engine/native/engine';
import type { Context, ContextOptions, Model } from '@/electron/engine/native/types';
import { SessionStore } from '@/electron/engine/sessions/store';
import { pick } from './random.mjs';
import { type Attack, type Edit, edited, type Outcome, outcomeOf, someEdits, tried } from './target';

type Kind = 'f16' | 'turbo4' | 'calibration' | 'json' | 'tokens';
interface Case {
  kind: Kind;
  edits: Edit[];
}

const sentence = 'The old clock in the hall strikes once an hour. Rain fell on the roofs of the village all day. ';
/** of a session, where it says what follows */
const headBytes = 4096;
const sampling = { temperature: 0, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1, seed: 1 };

export async function sessions(folder: string): Promise<Attack<Case>> {
  const model = await loadEngine().loadModel(path.resolve('test/fixtures/models/concertina-tiny-q8_0.gguf'), {
    gpuLayers: 0,
  });
  const calibration = await model.calibrate({ text: sentence.repeat(30), maxTokens: 256, positions: 512, threads: 1 });
  const file = path.join(folder, 'session.kv');
  const stored = path.join(folder, 'stored');
  const contexts = { f16: await contextOf(model, 'f16'), turbo4: await contextOf(model, 'turbo4') };
  const originals = new Map<Kind, Buffer>([['calibration', Buffer.from(calibration)]]);
  const tokens = model.tokenize(sentence.repeat(3));
  for (const [kind, context] of Object.entries(contexts)) {
    await write(context, tokens);
    await context.saveSession(file);
    originals.set(kind as Kind, fs.readFileSync(file));
  }
  const store = await SessionStore.open(stored, () => undefined);
  const made = { chatIds: ['c'], modelName: 'm', readingRate: 1 } as unknown as Parameters<typeof store.add>[2];
  const { id } = await store.add(contexts.f16, tokens.slice(0, contexts.f16.contextUsed), made);
  for (const kind of ['json', 'tokens'] as const)
    originals.set(kind, fs.readFileSync(path.join(stored, `${id}.${kind}`)));
  const originalOf = (kind: Kind) => originals.get(kind) ?? Buffer.alloc(0);

  async function restored(context: Context): Promise<Outcome> {
    const outcome = await tried(() => context.loadSession(file));
    // whatever it was, the context goes on
    await write(context, tokens.slice(0, 8));
    return outcome;
  }

  /** What the engine does with it at its start. */
  async function listed(kind: 'json' | 'tokens', bytes: Buffer): Promise<Outcome> {
    for (const other of ['json', 'tokens'] as const)
      fs.writeFileSync(path.join(stored, `${id}.${other}`), originalOf(other));
    fs.writeFileSync(path.join(stored, `${id}.kv`), originalOf('f16'));
    fs.writeFileSync(path.join(stored, `${id}.${kind}`), bytes);
    const notices: string[] = [];
    const opened = await SessionStore.open(stored, (text) => notices.push(text));
    const [meta] = opened.list();
    const read = meta && (await opened.tokensOf(meta));
    return read ? { served: true } : { refused: notices.length > 0 ? 'with a notice' : 'silently' };
  }

  async function run({ kind, edits }: Case): Promise<Outcome> {
    const bytes = edited(originalOf(kind), edits);
    if (kind === 'json' || kind === 'tokens') return listed(kind, bytes).catch(outcomeOf);
    if (kind === 'calibration') return tried(async () => model.attachCalibration(bytes));
    fs.writeFileSync(file, bytes);
    return restored(contexts[kind]);
  }

  const kinds: Kind[] = ['f16', 'turbo4', 'turbo4', 'calibration', 'json', 'tokens'];
  return {
    make(random) {
      const kind: Kind = pick(random, kinds);
      return { kind, edits: someEdits(random, originalOf(kind).length, headBytes) };
    },
    run,
    close: async () => model.dispose(),
  };
}

function contextOf(model: Model, type: string): Promise<Context> {
  const options: ContextOptions = {
    ...{ nCtx: 256, typeK: type, typeV: type, flashAttention: 'auto', threads: 1, batch: 256 },
  };
  return model.createContext(options);
}

async function write(context: Context, tokens: Int32Array): Promise<void> {
  const answer = context.generate(tokens, { sampling, stop: [], maxTokens: 2 });
  while (!(await answer.next()).done);
}
