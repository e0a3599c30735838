// The cross-built addon for 64-bit Arm, in Node for Arm under qemu: it loads, and answers with the built-in model from a turbo4
// cache. Slow, and no word about speed: an emulator cannot say how fast a processor is.
// CLI: node test/packages/arm64.mjs

import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import { buildEngine } from '../../native/prepare/build.mjs';
import { fetchNodeFor } from '../../native/prepare/node.mjs';
import { BUILD } from '../../native/prepare/paths.mjs';
import { cli, must } from '../../native/prepare/process.mjs';
import { smallModel } from '../models.mjs';

/** In the Node for Arm; the bundle and the model are its arguments. */
const ANSWER = `
  const [bundle, file] = process.argv.slice(1);
  (async () => {
    const model = await require(bundle).loadEngine().loadModel(file, { gpuLayers: 0 });
    const cache = { typeK: 'turbo4', typeV: 'turbo4', flashAttention: 'auto' };
    const context = await model.createContext({ nCtx: 512, ...cache, threads: 2, batch: 64 });
    const sampling = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };
    const question = [{ role: 'user', content: 'What is the capital of France?' }];
    const generator = context.generate(question, { sampling, stop: [], maxTokens: 24 });
    let step = await generator.next();
    while (!step.done) step = await generator.next();
    const { typeK, typeV } = context.effective ?? {};
    console.log(JSON.stringify({ machine: process.arch, typeK, typeV, text: step.value.text }));
    await context.dispose();
  })();
`;

cli(import.meta.url, async () => {
  const { bin } = await buildEngine({ portable: true, arm64: true });
  const node = await fetchNodeFor('linux-arm64');
  const folder = path.join(BUILD, 'packages-test', 'arm64');
  await bundleForNode('engine', 'electron/engine/native/engine.ts', folder);
  const program = [
    '-L',
    '/usr/aarch64-linux-gnu',
    '-cpu',
    'max',
    node,
    '-e',
    ANSWER,
    path.join(folder, 'engine.cjs'),
    smallModel,
  ];
  const env = { CONCERTINA_ADDON: path.join(bin, 'concertina.node') };
  const output = await must('Answering under qemu', 'qemu-aarch64', program, { env });
  const { machine, text, typeK, typeV } = JSON.parse(output.trim().split('\n').at(-1) ?? '{}');
  if (machine !== 'arm64' || !text?.trim()) throw new Error(`no answer: ${output}`);
  console.log(`${machine}, K ${typeK.effective}, V ${typeV.effective}: ${text.trim()}`);
});
