// `npm run bench:machines`: what a model over several machines costs in speed. Workers run on this machine, each with one thread, and
// with --delays behind a relay that holds every byte back for so many milliseconds each way; it counts them, too. In each round all
// variants write the same greedy answer one after the other; figures are medians of the rounds. `0 workers` is the engine alone,
// with one thread.
// CLI: npm run bench:machines -- [--model FILE|small|tiny] [--type turbo4] [--workers 2,4,8] [--delays 0,1,5,20] [--prompt 256]
//      [--generate 32] [--rounds 3] [--write-docs]     --write-docs: the table of docs/machines.md

import net from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { list, number, OptionError, runCommand, table, writeFigures } from './command.mjs';
import { contextOptions, fill, loadEngine, loadTypeScript } from './quality/engine.mjs';
import { median } from './speed/report.mjs';

const GREEDY = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };

function readOptions(args) {
  const text = (preset) => /** @type {const} */ ({ type: 'string', default: preset });
  const counts = (option, most) => (word) => String(number(option, word, 0, most));
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...{ model: text('small'), type: text('turbo4'), workers: text('2,4,8'), delays: text('0,1,5,20') },
        ...{ prompt: text('256'), generate: text('32'), rounds: text('3') },
        'write-docs': { type: 'boolean', default: false },
      },
    });
    return {
      ...{ name: values.model, model: modelFile(values.model), type: values.type, write: values['write-docs'] },
      workers: list('--workers', values.workers, [], counts('--workers', 16)).map(Number),
      delays: list('--delays', values.delays, [], counts('--delays', 10_000)).map(Number),
      prompt: number('--prompt', values.prompt, 1, 1 << 16),
      generate: number('--generate', values.generate, 4, 1 << 16),
      rounds: number('--rounds', values.rounds, 1, 1000),
    };
  } catch (error) {
    throw error instanceof OptionError ? error : new OptionError(error.message.split('. ')[0]);
  }
}

/** A port of this machine that leads to another one, each byte `delayMs` later. `bytes`: that went through so far, both ways */
async function startRelay(port, delayMs) {
  const relay = { bytes: 0, port: 0, close: () => {} };
  const sockets = new Set();
  const pass = (from, to) => {
    from.on('data', (/** @type {Buffer} */ chunk) => {
      relay.bytes += chunk.length;
      if (delayMs === 0) to.write(chunk);
      else setTimeout(() => to.destroyed || to.write(chunk), delayMs);
    });
    from.on('error', () => {});
    from.on('close', () => to.destroy());
  };
  const server = net.createServer((client) => {
    const inner = net.connect(port, '127.0.0.1');
    for (const socket of [client, inner]) {
      sockets.add(socket);
      socket.setNoDelay(true);
    }
    pass(client, inner);
    pass(inner, client);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  relay.port = /** @type {net.AddressInfo} */ (server.address()).port;
  relay.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return relay;
}

async function main(args) {
  const options = readOptions(args);
  const engine = await loadEngine();
  const { WorkerFront } = await loadTypeScript('electron/services/remote/workerFront.ts');
  const { forkProcess } = await loadTypeScript('electron/services/engine/engineTransport.ts');
  const open = () => forkProcess(path.join(ROOT, 'build', 'app', 'engine.cjs'), ['--device-server']);
  const most = Math.max(0, ...options.workers);
  const fronts = [];
  const start = () => WorkerFront.start({ host: '127.0.0.1', port: 0, threads: 1, version: '', log: () => {}, open });
  for (let i = 0; i < most; i++) fronts.push(await start());
  const variants = [{ count: 0, delay: 0 }];
  for (const count of options.workers) for (const delay of options.delays) variants.push({ count, delay });
  const samples = variants.map(() => []);
  try {
    for (let round = 0; round < options.rounds; round++) {
      for (const [i, variant] of variants.entries()) {
        const figures = await measure(engine, fronts, variant, options);
        samples[i].push(figures);
        console.error(JSON.stringify({ round, ...variant, ...figures }));
      }
    }
  } finally {
    for (const front of fronts) await front.close();
  }
  report(options, variants, samples);
}

async function measure(engine, fronts, { count, delay }, options) {
  const relays = [];
  for (const front of fronts.slice(0, count)) relays.push(await startRelay(front.port, delay));
  const share = { cpu: true, free: 2 ** 30, total: 2 ** 30 };
  const workers = relays.map(({ port }, i) => ({
    endpoint: `127.0.0.1:${port}`,
    device: 0,
    name: `worker ${i}`,
    ...share,
  }));
  const loading = performance.now();
  const model = await engine.loadModel(options.model, { gpuLayers: count > 0 ? 1000 : 0, workers });
  const loadSeconds = (performance.now() - loading) / 1000;
  const types = { typeK: options.type, typeV: options.type };
  const context = await model.createContext(contextOptions(types, options.prompt + options.generate + 256, 1));
  const prompt = fill(model.tokenize('The old clock in the hall strikes once an hour. '), options.prompt);
  const bytes = () => relays.reduce((sum, relay) => sum + relay.bytes, 0);
  const sampling = { sampling: GREEDY, stop: [], ignoreEnd: true };
  const began = performance.now();
  const times = [];
  const seen = [];
  for await (const chunk of context.generate(prompt, { ...sampling, maxTokens: options.generate })) {
    if (chunk.text === '') continue;
    times.push(performance.now());
    seen.push(bytes());
  }
  await model.dispose();
  for (const relay of relays) relay.close();
  // the first tokens bring the graph; what follows is the same for each
  const from = Math.min(4, times.length - 2);
  const tokens = times.length - 1 - from;
  return {
    read: options.prompt / ((times[0] - began) / 1000),
    write: tokens / ((times.at(-1) - times[from]) / 1000),
    bytes: (seen.at(-1) - seen[from]) / tokens,
    loadSeconds,
  };
}

function report(options, variants, samples) {
  const rows = variants.map(({ count, delay }, i) => {
    const of = (name) => median(samples[i].map((one) => one[name]));
    const kib = (of('bytes') / 1024).toFixed(1);
    const link = count > 0 ? kib : '';
    return [
      count,
      count > 0 ? delay : '',
      of('write').toFixed(1),
      of('read').toFixed(0),
      link,
      of('loadSeconds').toFixed(1),
    ];
  });
  const head = [
    'workers',
    'delay each way, ms',
    'tokens/s written',
    'tokens/s read',
    'KiB a token over all links',
    'load, s',
  ];
  const text = table(head, rows);
  console.log(text);
  if (!options.write) return;
  const said = `\`npm run bench:machines\`, model \`${options.name}\`, cache ${options.type}, ${options.prompt} tokens read, ${options.generate} written, medians of ${options.rounds} rounds:`;
  writeFigures('machines', 'bench:machines', `${said}\n\n${text}`);
}

await runCommand(main);
