// Needle questions over long text, greedy, for a list of cache types: how many of the items that f16 answers does each
// type answer? Uses the built addon as it is.
// CLI: node test/bench/needles.mjs ITEMS.jsonl [--types f16,q8_0,turbo4,turbo3] [--max TOKENS] [--threads N]
//        [--model FILE] [--verbose]
//   a type may be a pair K/V, as in q8_0/turbo4; ITEMS: lines of {id, kind, target_tokens, tokens, prompt, answer}

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';

const ANSWER_TOKENS = 48;
const CONTEXT = 8192;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    types: { type: 'string', default: 'f16,q8_0,q4_0,turbo4,turbo3' },
    max: { type: 'string', default: String(CONTEXT) },
    threads: { type: 'string', default: '0' },
    model: { type: 'string', default: path.join(ROOT, 'assets', 'models', 'concertina-tiny-q8_0.gguf') },
    verbose: { type: 'boolean', default: false },
  },
});

function loadAddon() {
  const holder = { exports: {} };
  const file = process.env.CONCERTINA_ADDON ?? path.join(ROOT, 'build', 'native', 'bin', 'concertina.node');
  process.dlopen(holder, file, os.constants.dlopen.RTLD_NOW);
  return holder.exports;
}

function readItems(file, max) {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter((item) => item.target_tokens <= max);
}

async function replies(addon, model, type, items) {
  const [typeK, typeV = typeK] = type.split('/');
  const options = { nCtx: CONTEXT, typeK, typeV, flashAttention: 'auto', threads: Number(values.threads), batch: 512 };
  const context = await model.createContext(options);
  const sampling = { temperature: 0, topK: 40, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };
  const found = [];
  const started = performance.now();
  for (const item of items) {
    const result = await context.generate(
      [{ role: 'user', content: item.prompt }],
      { sampling, stop: [], maxTokens: ANSWER_TOKENS },
      () => {},
      () => {},
      new addon.Cancellation(),
    );
    found.push(result.text);
  }
  const { typeK: k, typeV: v } = context.effective;
  const memory = context.memory();
  await context.dispose();
  return { found, seconds: (performance.now() - started) / 1000, effective: `${k.effective}/${v.effective}`, memory };
}

const holds = (reply, answer) => reply.toLowerCase().includes(String(answer).toLowerCase());
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}%` : '-');

const file = positionals[0];
if (!file) throw new Error('Name a file of items: node test/bench/needles.mjs ITEMS.jsonl');
const items = readItems(file, Number(values.max));
const addon = loadAddon();
const model = await addon.loadModel(values.model, -1, () => {}, new addon.Cancellation());
const types = ['f16', ...values.types.split(',').filter((type) => type !== 'f16')];

console.log(`${items.length} items of ${path.basename(file)}, ${model.info.name}, ${addon.capabilities().simd}`);
console.log('type | effective K/V | KV vs f16 | answered | of those f16 answers | by length | seconds');
let base = null;
for (const type of types) {
  const { found, seconds, effective, memory } = await replies(addon, model, type, items);
  const right = items.map((item, i) => holds(found[i], item.answer));
  base ??= right;
  const kept = right.filter((ok, i) => ok && base[i]).length;
  const lengths = [...new Set(items.map((item) => item.target_tokens))].sort((a, b) => a - b);
  const byLength = lengths.map((length) => {
    const these = right.filter((_, i) => items[i].target_tokens === length);
    return `${length}: ${these.filter(Boolean).length}/${these.length}`;
  });
  const saving = (memory.kvF16 / (memory.kvK + memory.kvV)).toFixed(2);
  const total = base.filter(Boolean).length;
  console.log(
    [
      type,
      effective,
      `${saving}x`,
      `${right.filter(Boolean).length}/${items.length}`,
      `${kept}/${total} ${percent(kept, total)}`,
      byLength.join(' '),
      seconds.toFixed(0),
    ].join(' | '),
  );
  if (!values.verbose) continue;
  for (const [i, item] of items.entries())
    console.log(
      `  ${right[i] ? 'ok ' : 'no '} ${item.id} ${item.kind} ${item.target_tokens} "${item.answer}" <- ${JSON.stringify(found[i])}`,
    );
}
await model.dispose();
