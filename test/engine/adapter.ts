/** A LoRA adapter of random numbers for one of the models of this tree: it makes other text of it, and worse. */
import fs from 'node:fs';
import path from 'node:path';
import { tinyModel } from '../models.mjs';
import { placesOf, randomFrom, readGguf, type TensorSpec, type Value, writeGguf } from './gguf';

const usual = ['blk.0.attn_q.weight', 'blk.3.attn_v.weight', 'blk.5.ffn_down.weight'];

export interface AdapterChanges {
  name?: string;
  metadata?: Record<string, Value>;
  /** that it is for; left out: the tiny one */
  base?: string;
  /** names of its weights */
  adapted?: string[];
  rank?: number;
  /** of its numbers */
  seed?: number;
  tensors?: (tensors: TensorSpec[]) => TensorSpec[];
}

export function writeAdapter(folder: string, changes: AdapterChanges = {}): string {
  const { name, base = tinyModel, metadata, adapted = usual, rank = 4, seed = 3, tensors } = changes;
  const model = readGguf(base);
  const places = placesOf(model);
  const pairs = adapted.flatMap((weights): TensorSpec[] => {
    const [inner = 0, outer = 0] = places.get(weights)?.shape ?? [];
    // of embeddings the rows are looked up, so its matrices are the other way round
    const shapes = weights.startsWith('token_embd')
      ? [
          [rank, outer],
          [rank, inner],
        ]
      : [
          [inner, rank],
          [rank, outer],
        ];
    return shapes.map((shape, i) => ({ name: `${weights}.lora_${i === 0 ? 'a' : 'b'}`, shape }));
  });
  const file = path.join(folder, name ?? 'tiny-lora.gguf');
  const header: Record<string, Value> = {
    ...{
      'general.architecture': model.metadata.get('general.architecture') ?? '',
      'general.type': 'adapter',
      'general.name': 'Tiny tuned',
    },
    ...{ 'adapter.type': 'lora', 'adapter.lora.alpha': { float32: rank } },
    ...metadata,
  };
  writeGguf(file, header, tensors?.(pairs) ?? pairs);
  const { dataStart } = readGguf(file);
  const data = fs.readFileSync(file);
  const next = randomFrom(seed);
  for (let at = dataStart; at + 4 <= data.length; at += 4) data.writeFloatLE((next() - 0.5) / 4, at);
  fs.writeFileSync(file, data);
  return file;
}
