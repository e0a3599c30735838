// `npm run bench:document`: the first token of a second chat about a document against that of the first chat, which reads it. Both
// are chats of the engine's own server in a process that has just loaded the model, and ask different questions. Each round has
// both, one behind the other, for each type; a figure is the median of the rounds, a ratio is made within a round.
// CLI: npm run bench:document -- [--model FILE|small|tiny] [--tokens 25000] [--types f16,turbo4] [--rounds 3] [--threads 0] [--json]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { CommandError, dropFromCache, number, runCommand, table } from './command.mjs';
import { CALIBRATION_TEXT, loadEngine, loadTypeScript } from './quality/engine.mjs';
import { median } from './speed/report.mjs';

const NAME = 'document.txt';
/** of the questions, the answers and the chat template */
const MARGIN = 512;
const QUESTIONS = ['What is this text about?', 'Who is named first in the document?'];

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'small' },
    text: { type: 'string', default: path.join(ROOT, 'test', 'fixtures', 'heldout.txt') },
    tokens: { type: 'string', default: '25000' },
    types: { type: 'string', default: 'f16,turbo4' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});

async function main() {
  const rounds = number('--rounds', values.rounds, 1, 1000);
  const tokens = number('--tokens', values.tokens, 4096, 1 << 20);
  const threads = number('--threads', values.threads, 0, 512);
  const folder = fs.mkdtempSync(path.join(BUILD, 'document-bench-'));
  const { createEngineServer } = await loadTypeScript('electron/engine/server.ts');
  const { contextSettingsSchema } = await loadTypeScript('electron/contract/settings.ts');
  const engine = await loadEngine();
  try {
    const rows = values.types.split(',').map((type) => ({ type, rounds: [] }));
    const start = async (type, sessions) => {
      const server = createEngineServer(() => engine, { frame() {}, loadProgress() {}, notice: console.error });
      const common = { enabled: true, minTokens: 2048, maxBytes: 1e12 };
      await server.handlers.configureSessions({ folder: sessions, ...common });
      const context = contextSettingsSchema.parse({ nCtx: tokens + MARGIN, typeK: type, typeV: type, threads });
      const calibration = { folder: path.join(folder, 'calibrations'), textFile: CALIBRATION_TEXT };
      await server.handlers.load({ path: modelFile(values.model), context, calibration });
      return server;
    };
    for (let round = 0; round < rounds; round++) {
      for (const row of rows) {
        const sessions = path.join(folder, `${row.type}-${round}`);
        row.rounds.push(await measure(() => start(row.type, sessions), sessions, tokens));
        fs.rmSync(sessions, { recursive: true });
        console.error(`round ${round + 1}, ${row.type}: ${JSON.stringify(row.rounds.at(-1))}`);
      }
    }
    report(rows);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The first chat reads the document, which is kept when the server closes; the second one is asked of another server. */
async function measure(start, sessions, tokens) {
  const first = await start();
  const document = await documentOf(first, tokens);
  const read = await ask(first, 'first', document, QUESTIONS[0]);
  await first.close();
  const files = fs.readdirSync(sessions).filter((name) => name.endsWith('.kv'));
  const bytes = Math.max(0, ...files.map((name) => fs.statSync(path.join(sessions, name)).size));
  // what comes from the disk is to come from the disk
  const cold = files.map((name) => dropFromCache(path.join(sessions, name))).every(Boolean);
  const second = await start();
  const loaded = await ask(second, 'second', document, QUESTIONS[1]);
  await second.close();
  if (read.cachedTokens > 0 || loaded.restoredTokens < 0.95 * tokens)
    throw new CommandError(`the second chat loaded ${loaded.restoredTokens} of ${loaded.promptTokens} tokens`);
  return { tokens: loaded.restoredTokens, bytes, cold, readMs: read.ttftMs, loadMs: loaded.ttftMs };
}

/** A little more than so many tokens. */
async function documentOf({ handlers }, tokens) {
  const once = fs.readFileSync(values.text, 'utf8');
  const counted = await handlers.countTexts({ texts: [once] });
  const length = Math.ceil((once.length / (counted.tokens[0] ?? 1)) * (tokens + MARGIN / 8));
  return once.repeat(Math.ceil(length / once.length)).slice(0, length);
}

async function ask({ handlers }, chatId, text, question) {
  const block = `<document name="${NAME}">\n${text}\n</document>\n\n`;
  const documents = [{ id: NAME, name: NAME, end: block.length }];
  const { stats } = await handlers.generate({
    ...{ requestId: chatId, chatId, messageId: chatId, now: 0, jsonSchema: null },
    messages: [{ role: 'user', content: block + question, documents }],
    sampling: { temperature: 0, seed: 1, maxTokens: 4 },
  });
  return stats;
}

function report(rows) {
  const result = rows.map(({ type, rounds }) => ({
    ...{ type, tokens: rounds[0].tokens, bytes: rounds[0].bytes, cold: rounds.every(({ cold }) => cold) },
    ...{ readMs: median(rounds.map(({ readMs }) => readMs)), loadMs: median(rounds.map(({ loadMs }) => loadMs)) },
    ratio: median(rounds.map(({ readMs, loadMs }) => readMs / loadMs)),
    least: Math.min(...rounds.map(({ readMs, loadMs }) => readMs / loadMs)),
  }));
  if (values.json)
    return console.log(JSON.stringify({ model: path.basename(modelFile(values.model)), result }, null, 2));
  console.log(
    `${path.basename(modelFile(values.model))}, ${os.cpus()[0]?.model.trim()}, median of ${values.rounds} rounds\n`,
  );
  const head = ['cache', 'tokens', 'file MiB', 'first chat', 'second chat', 'times sooner', 'least'];
  const cells = result.map(({ type, tokens, bytes, readMs, loadMs, ratio, least }) => [
    ...[type, tokens, (bytes / 2 ** 20).toFixed(1), `${(readMs / 1000).toFixed(1)} s`, `${loadMs.toFixed(0)} ms`],
    ...[ratio.toFixed(0), least.toFixed(0)],
  ]);
  console.log(table(head, cells));
  if (!result.every(({ cold }) => cold)) console.log('\nThe files came from the cache of the disk.');
}

await runCommand(main);
