// `npm run bench:clients`: how much of each prompt comes from the cache while coding clients hold a conversation with
// `concertina serve`, as `concertina launch` points them at it. Between the two a proxy reads what the server says of each
// request. The model is that of the tests, stretched to 131,072 positions, with a template that shows it the clients' tools:
// what it says makes no sense, but prompts are as long as they are. The clients must be installed, in PATH or in --programs:
//   npm install --prefix /tmp/clients @anthropic-ai/claude-code @openai/codex opencode-ai
// CLI: npm run bench:clients -- [--clients claude,codex,opencode] [--programs /tmp/clients/node_modules/.bin] [--turns 10]
//        [--types turbo4] [--json]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundleForNode } from '../../electron/build.mjs';
import { BUILD, TREE } from '../../native/prepare/paths.mjs';
import { tinyModel } from '../models.mjs';
import { KEY, startServe } from '../serve.mjs';
import { CommandError, list, number, runCommand, table } from './command.mjs';

const POSITIONS = 131_072;

/** What each is given for a question. */
const ASK = {
  claude: (question, first) => ['-p', question, ...(first ? [] : ['--continue'])],
  codex: (question, first) => ['exec', ...(first ? [] : ['resume', '--last']), '--skip-git-repo-check', question],
  opencode: (question, first) => ['run', ...(first ? [] : ['--continue']), question],
};

const { values } = parseArgs({
  options: {
    clients: { type: 'string' },
    programs: { type: 'string' },
    turns: { type: 'string', default: '10' },
    types: { type: 'string', default: 'turbo4' },
    json: { type: 'boolean', default: false },
  },
});

async function main() {
  const turns = number('--turns', values.turns, 2, 1000);
  const names = list('--clients', values.clients, Object.keys(ASK), (name) => {
    if (!Object.hasOwn(ASK, name))
      throw new CommandError(`--clients: ${name} is none of ${Object.keys(ASK).join(', ')}`);
    return name;
  });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-bench-clients-'));
  const model = await writeModel(folder);
  const context = ['--context', String(POSITIONS), '--type-k', values.types, '--type-v', values.types];
  const server = await startServe(path.join(folder, 'data'), ['--model', model, ...context, '--one-model']);
  const proxy = await startProxy(server.url);
  try {
    const rows = [];
    for (const name of names) {
      const surroundings = place(path.join(folder, name));
      for (let turn = 1; turn <= turns; turn++) {
        proxy.requests.length = 0;
        const question = `Question ${turn}: which number comes after ${turn * 7}?`;
        await ask(name, ASK[name](question, turn === 1), proxy.port, surroundings);
        const row = rowOf(name, turn, proxy.requests);
        rows.push(row);
        console.error(JSON.stringify(row));
      }
    }
    report(rows);
  } finally {
    proxy.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function writeModel(folder) {
  const bundles = path.join(BUILD, 'bench-clients');
  await bundleForNode('gguf', 'test/engine/gguf.ts', bundles);
  const { readGguf, writeChanged } = createRequire(import.meta.url)(path.join(bundles, 'gguf.cjs'));
  const template = path.join(TREE, 'models', 'templates', 'Qwen-Qwen2.5-7B-Instruct.jinja');
  const changes = {
    'qwen3.context_length': POSITIONS,
    'tokenizer.chat_template': fs.readFileSync(template, 'utf8'),
  };
  fs.mkdirSync(path.join(folder, 'data'));
  return writeChanged(readGguf(tinyModel), path.join(folder, 'stretched.gguf'), changes, true);
}

/** A home and a project of its own: nothing of the person's. */
function place(folder) {
  const [home, project] = ['home', 'project'].map((name) => path.join(folder, name));
  for (const one of [home, project]) fs.mkdirSync(one, { recursive: true });
  return { home, project };
}

async function ask(name, args, port, { home, project }) {
  const line = [path.join(BUILD, 'app', 'serve.cjs'), 'launch', name, '--port', String(port), '--key', KEY];
  const child = spawn(process.execPath, [...line, '--', ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ HOME: home, TERM: 'dumb', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      PATH: [values.programs, process.env.PATH].filter(Boolean).join(path.delimiter),
    },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new CommandError(`${name} ended with code ${code}:\n${printed.slice(-2000)}`);
}

/** Forwards everything, and keeps what the server says of each prompt: tokens, and those that were in the cache. */
async function startProxy(to) {
  const requests = [];
  const server = http.createServer((request, response) => {
    const { host } = new URL(to);
    const options = { method: request.method, headers: { ...request.headers, host } };
    const onward = http.request(new URL(request.url, to), options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      // a client may go before the end, when it has read what it wanted
      const said = { text: '' };
      requests.push(said);
      answer.on('data', (chunk) => (said.text += chunk));
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { requests, port: server.address().port, close: () => server.closeAllConnections() ?? server.close() };
}

/** Of chat completions, of Responses, and of Messages, whose input has no cached tokens. */
function usageIn(text) {
  const of = (name) => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? Number.NaN);
  const read = of('cache_read_input_tokens');
  if (!Number.isNaN(read)) return { prompt: read + of('input_tokens'), cached: read };
  const prompt = Number.isNaN(of('prompt_tokens')) ? of('input_tokens') : of('prompt_tokens');
  return Number.isNaN(prompt) ? null : { prompt, cached: of('cached_tokens') };
}

/** A turn is its longest prompt: beside it a client asks for a title, say. */
function rowOf(client, turn, requests) {
  const prompts = requests.flatMap(({ text }) => usageIn(text) ?? []);
  const [longest, ...others] = prompts.toSorted((a, b) => b.prompt - a.prompt);
  if (!longest) throw new CommandError(`${client} asked nothing in turn ${turn}.`);
  return { client, turn, ...longest, share: longest.cached / longest.prompt, others: others.length };
}

function report(rows) {
  if (values.json) return console.log(JSON.stringify({ positions: POSITIONS, types: values.types, rows }, null, 2));
  console.log(
    table(
      ['client', 'turn', 'prompt', 'from the cache', 'share', 'other requests'],
      rows.map(({ client, turn, prompt, cached, share, others }) => [
        ...[client, String(turn), String(prompt), String(cached), `${(100 * share).toFixed(2)} %`, String(others)],
      ]),
    ),
  );
  for (const client of new Set(rows.map((row) => row.client))) {
    const later = rows.filter((row) => row.client === client && row.turn > 1);
    const least = Math.min(...later.map(({ share }) => share));
    console.log(`${client}: from turn 2 at least ${(100 * least).toFixed(2)} % of the prompt from the cache`);
  }
}

await runCommand(main);
