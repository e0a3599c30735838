/**
 * The models that are shipped, with other metadata, other tensors, changed bytes or cut off: looked at by the process that looks at
 * foreign files, and, as the app does it, loaded by the engine if that one has survived it. The first may end; the second may not.
 */
import fs from 'node:fs';
import path from 'node:path';
import { engineArguments, inspectorArguments } from '@/electron/contract/engineContract';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { EngineHost } from '@/electron/services/engine/engineHost';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { ModelInspector } from '@/electron/services/engine/modelInspector';
import { silentLogger } from '@/electron/services/lib/logger';
import { type Gguf, readGguf, writeChanged } from '@/test/engine/gguf';
import { pick } from './random.mjs';
import { type Attack, type Edit, edited, type Outcome, outcomeOf, type Random, someEdits } from './target';

interface Case {
  model: 'tiny' | 'small';
  /** key and what stands in its place, in hexadecimal, type first; null: it is left out */
  changes: Record<string, string | null>;
  /** of the part of the header that lists tensors */
  tensors: Edit[];
  /** of the header as a whole */
  header: Edit[];
  /** of the weights, which are zeros */
  weights: Edit[];
}

const files = {
  tiny: 'test/fixtures/models/concertina-tiny-q8_0.gguf',
  small: 'assets/models/concertina-small-q6_K.gguf',
};
/** of an engine with AddressSanitizer (`--sanitize`); the app lets none of these through */
const sanitizer = Object.fromEntries(
  ['LD_PRELOAD', 'ASAN_OPTIONS'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
) as Record<string, string>;
/** small enough that a load is mostly the reading of the file */
const context = contextSettingsSchema.parse({ nCtx: 512, typeK: 'q8_0', typeV: 'q8_0', threads: 1 });

export async function gguf(folder: string): Promise<Attack<Case>> {
  const engineFile = path.resolve('build', 'app', 'engine.cjs');
  const originals = { tiny: readGguf(path.resolve(files.tiny)), small: readGguf(path.resolve(files.small)) };
  const inspector = new ModelInspector(
    () => forkProcess(engineFile, inspectorArguments(folder), sanitizer),
    silentLogger,
  );
  const host = new EngineHost(() => forkProcess(engineFile, engineArguments(folder), sanitizer), silentLogger);
  let engineEnded = '';
  host.crashed.on((report) => {
    engineEnded = JSON.stringify(report);
  });
  host.start();
  await host.whenReady();
  let loaded = 0;
  const file = path.join(folder, 'model.gguf');

  async function run(one: Case): Promise<Outcome> {
    write(originals[one.model], file, one);
    const ends = inspector.endCount;
    try {
      await inspector.inspect(file);
      await inspector.estimate(file, context);
      if (inspector.endCount > ends) return { refused: 'ended the inspector' };
      await host.client.call('load', { path: file, context, calibration: { folder: '', textFile: '' }, force: true });
      loaded++;
      await host.client.call('countTexts', { texts: ['The lamp was lit.'] });
      return { served: true };
    } catch (error) {
      if (inspector.endCount > ends) return { refused: 'ended the inspector' };
      return outcomeOf(error);
    }
  }

  return {
    make: (random) => someCase(random, originals),
    run,
    async isWell() {
      if (engineEnded !== '') throw new Error(`the engine ended: ${engineEnded}`);
    },
    note: () => `${loaded} loaded by the engine; ${inspector.endCount} ended the process that looks at files`,
    async close() {
      await inspector.close();
      await host.stop();
    },
  };
}

const numbers = [0, 1, 2, 3, 7, 64, 127, 128, 255, 511, 512, 513, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

function someCase(random: Random, originals: Record<'tiny' | 'small', Gguf>): Case {
  const model = random(8) ? 'tiny' : 'small';
  const { metadata, tensors, dataStart } = originals[model];
  const one: Case = { model, changes: {}, tensors: [], header: [], weights: [] };
  const keys = [...metadata.keys()];
  for (let count = random(4); count > 0; count--) {
    const key: string = pick(random, keys);
    one.changes[key] =
      random(8) === 0 ? null : otherValue(random, metadata.get(key) ?? Buffer.alloc(4)).toString('hex');
  }
  if (random(3) === 0) one.tensors = someEdits(random, tensors.length).filter((edit) => !('cut' in edit));
  if (random(4) === 0) one.header = someEdits(random, dataStart, 512);
  if (random(4) === 0) one.weights = someEdits(random, 1_000_000).filter((edit) => 'at' in edit);
  return one;
}

/** `value`: its type and what follows. Lists of the vocabulary keep their length for the most part, with something wrong in them. */
function otherValue(random: Random, value: Buffer): Buffer {
  const type = value.readUInt32LE(0);
  if (random(10) === 0) return edited(value, [{ at: 0, bytes: [random(14)] }]);
  if (type === 4 || type === 5 || type === 6) {
    const bytes = Buffer.alloc(4);
    if (type === 6) bytes.writeFloatLE(pick(random, [0, -1, 1e-38, 1e38, Number.NaN, Infinity, 0.5]));
    else bytes.writeUInt32LE(random(3) ? pick(random, numbers) : random(5000));
    return Buffer.concat([value.subarray(0, 4), bytes]);
  }
  if (type === 8) {
    const said = value.subarray(12).toString('utf8');
    const text: string = pick(random, [
      '',
      'llama',
      'gpt2',
      'bert',
      said.repeat(3),
      said.slice(0, random(said.length + 1)),
      '{% for i in range(999999999) %}x{% endfor %}',
      '{{ '.repeat(random(3000)),
      '\ud800',
      '\0',
    ]);
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(random(12) === 0 ? 2n ** BigInt(random(64)) : BigInt(bytes.length));
    return Buffer.concat([value.subarray(0, 4), length, bytes]);
  }
  return edited(value, someEdits(random, value.length, 64));
}

function write(original: Gguf, file: string, { changes, tensors, header, weights }: Case): void {
  const values = Object.entries(changes).map(([key, hex]) => [key, hex === null ? null : Buffer.from(hex, 'hex')]);
  const changed = { ...original, tensors: edited(original.tensors, tensors) };
  fs.rmSync(file, { force: true });
  writeChanged(changed, file, Object.fromEntries(values));
  const length = Math.min(fs.statSync(file).size, original.dataStart);
  const handle = fs.openSync(file, 'r+');
  try {
    if (header.length > 0) {
      const head = Buffer.alloc(length);
      fs.readSync(handle, head, 0, length, 0);
      const other = edited(head, header);
      fs.writeSync(handle, other, 0, other.length, 0);
      if (header.some((edit) => 'cut' in edit)) fs.ftruncateSync(handle, other.length);
    }
    for (const edit of weights) {
      if ('at' in edit) fs.writeSync(handle, Buffer.from(edit.bytes), 0, edit.bytes.length, length + edit.at);
    }
  } finally {
    fs.closeSync(handle);
  }
}
