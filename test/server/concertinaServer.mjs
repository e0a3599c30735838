#!/usr/bin/env node
// `concertina serve` that takes the options of llama-server, for upstream's server tests: those that are ours under another name
// are translated, the rest goes to the core. The process is the server itself, so that a signal reaches it.
// CLI: concertinaServer.mjs --port N --model FILE [options of llama-server]
// Environment: CONCERTINA_SUITE_DATA, the folder in which a data folder is made; CONCERTINA_SUITE_FRESH, a local socket: whoever
// connects gets `fresh` as soon as the model has a new context, or why it has none (concertina_substitutes.py)

import { on, once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { WebSocket } from 'ws';
import { BUILD } from '../../native/prepare/paths.mjs';

const ours = {
  '--port': 'port',
  '--host': 'host',
  '--model': 'model',
  '--parallel': 'slots',
  '--api-key': 'key',
  '--cors-origins': 'cors',
  '-ctk': 'type-k',
  '-ctv': 'type-v',
};

// what llama-server does unless it is told otherwise
const values = { 'type-k': 'f16', 'type-v': 'f16', cors: '*' };
const core = [];
const args = process.argv.slice(2);
for (let at = 0; at < args.length; at++) {
  if (ours[args[at]]) values[ours[args[at]]] = args[++at];
  else core.push(args[at]);
}
// llama-server divides the context when it is told how many slots there are
if (values.slots && !core.includes('--kv-unified')) core.push('--no-kv-unified');

const folder = process.env.CONCERTINA_SUITE_DATA ?? '/tmp';
const data = fs.mkdtempSync(path.join(folder, 'data-'));
handOnInspections(path.join(folder, 'inspections.json'), path.join(data, 'inspections.json'));
const line = Object.entries({ ...values, data }).flatMap(([name, value]) => [`--${name}`, value]);
const program = path.join(BUILD, 'app', 'serve.cjs');
process.env.CONCERTINA_FIRST_PROBE = 'off';
process.argv = [
  process.argv[0],
  program,
  'serve',
  ...line,
  ...(values.key ? [] : ['--no-key']),
  '--one-model',
  '--',
  ...core,
];
createRequire(import.meta.url)(program);

const { CONCERTINA_SUITE_FRESH: fresh } = process.env;
if (fresh) {
  const offer = net.createServer(async (client) => {
    client.on('error', () => {});
    client.end(await freshContext().catch(String));
  });
  // what is left of a server that was killed
  fs.rmSync(fresh, { force: true });
  offer.listen(fresh).unref();
}

/** What one server has read of the models' headers, which takes a process, the next one knows. */
function handOnInspections(kept, own) {
  if (fs.existsSync(kept)) fs.copyFileSync(kept, own);
  process.on('exit', () => {
    if (!fs.existsSync(own)) return;
    // servers of other files do the same: it appears whole
    fs.copyFileSync(own, `${own}.part`);
    fs.renameSync(`${own}.part`, kept);
  });
}

/** As the button of the window does it. The slots, their caches and their metrics go with the context. */
async function freshContext() {
  const key = fs.readFileSync(path.join(data, 'serve.key'), 'utf8').trim();
  const socket = new WebSocket(`ws://127.0.0.1:${values.port}/ws`, ['concertina', `key.${key}`]);
  try {
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'call', id: 1, name: 'engine.reload' }));
    for await (const [message] of on(socket, 'message', { close: ['close'] })) {
      const { type, envelope } = JSON.parse(String(message));
      if (type !== 'answer') continue;
      const { state, contextUsed } = envelope.value ?? {};
      return state === 'ready' && contextUsed === 0 ? 'fresh' : JSON.stringify(envelope);
    }
    return 'the page was cut off';
  } finally {
    socket.terminate();
  }
}
