// Hostile requests on their way to a server, and what holds whatever they are: each is answered or its connection ended within a
// bound, none by a failure of the server, and the next one is served as before.

import fs from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { tinyModel } from '../models.mjs';
import { KEY, startServe } from '../serve.mjs';
import { hostileRequest, words } from './requests.mjs';

/** @typedef {import('./requests.mjs').Hostile} Hostile */

/** What llama-server answers with 500, as its tests want it, or 503: what is wrong is said. */
export const explained = ['image input is not supported', 'Context size has been exceeded', 'no slot available'];

/** @param {number} port @param {Hostile} request @param {number} boundMs @returns {Promise<string | null>} null: it was not over by then */
export function send(port, { bytes, client }, boundMs) {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      if (client === 'ends') socket.end(bytes);
      else if (client === 'cuts') socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.resetAndDestroy());
      else socket.write(bytes);
    });
    const bound = setTimeout(() => {
      resolve(null);
      socket.destroy();
    }, boundMs);
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
      if (client === 'leaves') socket.resetAndDestroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(bound);
      resolve(received);
    });
  });
}

/**
 * Sends so many requests, `atOnce` at a time, and looks after each batch whether the server is as it was.
 * @param {{port: number, key: string, seed: number, requests: number, atOnce?: number, first?: number, boundMs?: number, isWell: () => Promise<void>}} options
 *   `first`: index of the first request; `boundMs`: of one request; `isWell`: rejects where the server is not as it was
 * @returns {Promise<{statuses: Record<string, number>, problems: string[], slowestMs: number}>} statuses: `ended` without one;
 *   problems: requests that the server failed at (500, 503) or did not end, each with its seed and index
 */
export async function fuzz({ port, key, seed, requests, isWell, atOnce = 20, first = 0, boundMs = 60_000 }) {
  const statuses = /** @type {Record<string, number>} */ ({});
  const problems = /** @type {string[]} */ ([]);
  let slowestMs = 0;
  const one = async (index) => {
    const request = hostileRequest(seed, index, port, key);
    const started = performance.now();
    const answer = await send(port, request, boundMs);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    const status = answer === null ? 'no end' : (/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'ended');
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (!['500', '503', 'no end'].includes(status)) return;
    const body = (answer ?? '').split('\r\n\r\n')[1] ?? '';
    if (explained.some((sentence) => body.includes(sentence))) return;
    problems.push(`seed ${seed}, request ${index} (${request.path}): ${status} ${body.slice(0, 300)}`);
  };
  for (let from = first; from < first + requests; from += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, first + requests - from) }, (_, at) => from + at);
    // llama-server lets what is done to a busy slot wait until another answer ends, and there may be none
    const isOfSlot = (index) => hostileRequest(seed, index, port, key).path.startsWith('/slots/');
    await Promise.all(batch.filter((index) => !isOfSlot(index)).map(one));
    for (const index of batch.filter(isOfSlot)) await one(index);
    try {
      await isWell();
    } catch (error) {
      const shown = problems.slice(-20).join('\n');
      throw new Error(`not as before after requests ${from} to ${batch.at(-1)} of seed ${seed}\n${shown}`, {
        cause: error,
      });
    }
  }
  return { statuses, problems, slowestMs };
}

/** `concertina serve` with the tiny model, to be sent such requests; those that name no end write little. */
export async function startFuzzed() {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-fuzz-'));
  const context = ['--model', tinyModel, '--context', '512', '--type-k', 'q8_0', '--type-v', 'turbo4'];
  const server = await startServe(data, [...context, '--', '--slot-save-path', data, '--predict', '16']);
  const stop = async () => {
    await server.stop();
    fs.rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  // that of the page, which has another one than the API here
  const pageKey = fs.readFileSync(path.join(data, 'serve.key'), 'utf8');
  return { port: Number(new URL(server.url).port), key: KEY, pageKey, isWell: await wellOf(server.url), stop };
}

/** It says so, its greedy answer is the usual one, and nothing is at work in it after a while. @param {string} url */
async function wellOf(url) {
  const headers = { Authorization: `Bearer ${KEY}` };
  const ask = async (path, body) => {
    const answer = await fetch(url + path, { headers, signal: AbortSignal.timeout(60_000), ...body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const question = { messages: [{ role: 'user', content: words }], max_tokens: 16, temperature: 0 };
  const greedy = async () => {
    const body = { method: 'POST', body: JSON.stringify(question) };
    return (await ask('/v1/chat/completions', body)).choices[0].message.content;
  };
  const usual = await greedy();
  return async () => {
    await ask('/health');
    const text = await greedy();
    if (text !== usual) throw new Error(`The usual answer is "${usual}", and now "${text}"`);
    // whoever has gone leaves nothing behind
    const until = performance.now() + 60_000;
    while ((await ask('/slots')).some((slot) => slot.is_processing)) {
      if (performance.now() > until) throw new Error('A slot is still at work');
    }
  };
}
