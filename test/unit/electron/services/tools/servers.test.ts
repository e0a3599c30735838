/** Real and hostile MCP servers, through the bundle that the app runs: nothing they do hangs, crashes or leaks. */
import { spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServerPlace } from '@/electron/contract/tools/process';
import { named } from '@/electron/contract/tools/tools';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { ToolHost } from '@/electron/services/tools/toolHost';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../../electron/build.mjs';

const bundles = resolve('build/test-bundles');
const fixture = resolve('test/fixtures/tools/server.mjs');
const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
const memory = resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js');

beforeAll(async () => {
  await mkdir(bundles, { recursive: true });
  await bundleForNode('tools', 'electron/workers/tools/main.ts', bundles);
}, 120_000);

function command(args: string[], environment: Record<string, string> = {}): ServerPlace {
  return { kind: 'command', command: process.execPath, args, folder: '', environment };
}

const hostile = (word: string, environment?: Record<string, string>) => command([fixture, word], environment);

const newHost = () => new ToolHost(() => forkProcess(join(bundles, 'tools.cjs')), silentLogger);
/** as in the app: one process talks to all servers, and what one does to it is seen by the next */
const tools = newHost();
afterAll(() => tools.close());

let servers = 0;
let calls = 0;

async function connected(place: ServerPlace, timeoutMs = 20_000) {
  const serverId = `server ${++servers}`;
  onTestFinished(() => tools.call('disconnect', { serverId }, 10_000));
  const told = await tools.call('connect', { serverId, place, timeoutMs }, timeoutMs);
  const call = (tool: string, given: unknown = {}, ms = timeoutMs, callId = `call ${++calls}`) =>
    tools.call('call', { serverId, callId, tool, timeoutMs: ms, arguments: JSON.stringify(given) }, ms);
  return { serverId, told, call };
}

/** By process id. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('real servers', () => {
  /** Arguments of each tool of server-everything that answers a client without capabilities. */
  const given: Record<string, Record<string, unknown>> = {
    echo: { message: 'hello' },
    'get-sum': { a: 19, b: 23 },
    'get-annotated-message': { messageType: 'error' },
    'get-resource-reference': { resourceType: 'Text', resourceId: 1 },
    'get-resource-links': { count: 2 },
    'get-structured-content': { location: 'Chicago' },
    'trigger-long-running-operation': { duration: 0.2, steps: 2 },
    'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
  };

  async function callEach(place: ServerPlace) {
    const { told, call } = await connected(place);
    const results: Record<string, string> = {};
    for (const { tool } of told.tools) {
      const result = await call(tool, given[tool] ?? {});
      results[tool] = `${result.failed ? 'failed: ' : ''}${result.text}`;
    }
    return { results, call };
  }

  it('every tool of server-everything is called over stdin and stdout, one is canceled, and one fails', async () => {
    const { results, call } = await callEach(command([everything, 'stdio']));
    expect(Object.keys(results).length).toBeGreaterThanOrEqual(10);
    expect(results.echo).toBe('Echo: hello');
    expect(results['get-sum']).toContain('42');
    expect(results['get-tiny-image']).toContain('[image-2.png]');
    expect(results['gzip-file-as-resource']).toContain('[a.gz]');
    expect(results['get-structured-content']).toContain('temperature');
    expect(Object.entries(results).filter(([, text]) => text.startsWith('failed:'))).toEqual([]);

    const long = call('trigger-long-running-operation', { duration: 60, steps: 60 }, 20_000, 'long');
    await tools.call('cancel', { callId: 'long' }, 5000);
    await expect(long).rejects.toMatchObject({ code: 'cancelled' });
    expect((await call('echo', { message: 'still here' })).text).toBe('Echo: still here');
    expect(await call('get-sum', { a: 'x', b: 1 })).toMatchObject({ failed: true });
    expect(await call('no-such-tool')).toMatchObject({ failed: true });
  }, 60_000);

  it('and over HTTP, with headers', async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}/mcp`;
    await vi.waitFor(() => fetch(url), { timeout: 20_000 });
    const { results } = await callEach({ kind: 'address', url, headers: { authorization: 'Bearer secret' } });
    expect(results.echo).toBe('Echo: hello');
    expect(results['get-sum']).toContain('42');
  }, 60_000);

  it('server-filesystem says what its tools do, and refuses what is outside of its folder', async () => {
    const { told, call } = await connected(command([filesystem, await temporaryFolder()]));
    const byName = new Map(told.tools.map((tool) => [tool.tool, tool.hints]));
    expect(byName.get('read_text_file')).toMatchObject({ readOnly: true });
    expect(byName.get('write_file')).toMatchObject({ readOnly: false, destructive: true });
    const outside = await call('read_text_file', { path: '/etc/hostname' });
    expect(outside).toMatchObject({ failed: true });
    expect(outside.text).toContain('Access denied');
  }, 60_000);

  it('server-memory keeps what one call gave it for the next', async () => {
    const file = join(await temporaryFolder(), 'memory.jsonl');
    const { told, call } = await connected(command([memory], { MEMORY_FILE_PATH: file }));
    expect(told.tools.map(({ tool }) => tool)).toContain('create_entities');
    const entities = [{ name: 'Harbor', entityType: 'place', observations: ['It has a red crane.'] }];
    expect(await call('create_entities', { entities })).toMatchObject({ failed: false });
    expect((await call('search_nodes', { query: 'crane' })).text).toContain('Harbor');
    expect(await readFile(file, 'utf8')).toContain('red crane');
  }, 60_000);
});

describe('hostile servers', () => {
  /** One that behaves; asked after each of the others. */
  const good = { serverId: 'good', place: hostile('good'), timeoutMs: 20_000 };
  beforeAll(async () => void (await tools.call('connect', good, 20_000)));
  afterEach(async () => {
    const other = { serverId: 'good', callId: 'o', tool: 'echo', timeoutMs: 20_000, arguments: '{"a":1}' };
    expect((await tools.call('call', other, 20_000)).text).toBe('{"a":1}');
  });

  it.each([
    ['silent', 'did not answer in time', 300],
    ['half', 'did not answer in time', 300],
    ['old', 'cannot be used', 20_000],
    ['exits', 'ended with code 2', 20_000],
    ['dies-listing', 'ended with code 4', 20_000],
    ['wrong-list', 'makes no sense in MCP', 20_000],
  ] as const)('one that is %s is given up with a sentence', async (word, says, timeoutMs) => {
    await expect(connected(hostile(word), timeoutMs)).rejects.toThrow(says);
  });

  it('a program that is not there is said to be not there', async () => {
    const place = { ...command([]), command: '/nowhere/at-all' };
    await expect(connected(place)).rejects.toMatchObject({
      code: 'network-failed',
      message: expect.stringContaining('cannot be used'),
    });
  });

  it('tools that are described wrongly, or too large, are left out with a reason; the others are there', async () => {
    const wrong = (await connected(hostile('wrong-tools'))).told;
    expect(wrong.tools.map(({ tool }) => tool)).toEqual(['fine']);
    expect(wrong.refused).toHaveLength(6);
    const large = (await connected(hostile('large-tools'))).told;
    expect(large.tools.map(({ tool }) => tool)).toEqual(['fine']);
    expect(large.refused.join(' ')).toMatch(/description.*schema/s);
    const many = (await connected(hostile('many-tools'))).told;
    expect(many.tools).toHaveLength(500);
    const pages = (await connected(hostile('endless-pages'))).told;
    expect(pages.tools).toHaveLength(50);
  });

  it('names that others have, or that mean something elsewhere, are names', async () => {
    const { told, call } = await connected(hostile('collides'));
    const names = told.tools.map(({ tool }) => tool);
    expect(names).toEqual(['read_file', '__proto__', 'constructor', 'a\u202eb\u0007c']);
    expect((await call('__proto__', { word: 1 })).text).toBe('{"word":1}');
    const chosen = ['one', 'two'].flatMap((server) =>
      told.tools.map((tool) => ({ ...tool, serverId: server, server })),
    );
    const asCalled = named(chosen).map(({ name }) => name);
    expect(new Set(asCalled).size).toBe(8);
    expect(asCalled.every((name) => /^[\w-]+$/.test(name))).toBe(true);
  });

  it('descriptions that give orders are text, as the server wrote them', async () => {
    const { told } = await connected(hostile('instructions'));
    expect(told.tools[0]?.description).toContain('IGNORE ALL RULES');
  });

  it.each([
    ['dies', 'ended with code 3'],
    ['huge', 'more than 16 MiB'],
    ['no-line-end', 'more than 16 MiB'],
    ['floods', 'without end'],
    ['garbage', 'no messages of MCP'],
    ['wrong-result', 'makes no sense in MCP'],
  ])('of one that %s, the call ends with a sentence, and other servers go on', async (word, says) => {
    const { call } = await connected(hostile(word));
    await expect(call('echo')).rejects.toThrow(says);
  });

  it.each(['never', 'drips', 'closes'])('one that %s is waited for as long as its settings say', async (word) => {
    const { call } = await connected(hostile(word));
    await expect(call('echo', {}, 200)).rejects.toThrow('did not answer in time');
  });

  it('an answer that comes after its time is not taken for that of the next call', async () => {
    const { call } = await connected(hostile('late'));
    await expect(call('echo', {}, 200)).rejects.toThrow('did not answer in time');
    expect((await call('echo', { now: true })).text).toBe('now');
  });

  it.each([
    ['wrong-parts', expect.stringMatching(/left out.*seen/s)],
    ['other-id', 'yours'],
    ['twice', 'first'],
    ['chatty', '{}'],
    ['asks', '{}'],
    ['changes', '{}'],
    ['lone', 'half of a pair: \ufffd'],
    ['nested', '[The result is nested too deeply to be read.]'],
    ['no-base64', '[An image was left out.]\n[Sound was left out.]'],
  ])('one that sends %s is read as far as it makes sense', async (word, text) => {
    const { call } = await connected(hostile(word));
    expect(await call('echo')).toMatchObject({ text, files: [] });
  });

  it('files have names without a way out of a folder, and are not without end', async () => {
    const { call } = await connected(hostile('many-files'));
    const { files, text } = await call('echo');
    expect(files).toHaveLength(32);
    expect(files.map(({ name }) => name).slice(0, 3)).toEqual(['file-1.bin', 'image-2.png', 'image-3.png']);
    expect(text.match(/An image was left out/g)).toHaveLength(969);
  });

  it('a long result comes whole', async () => {
    const { call } = await connected(hostile('long'));
    expect((await call('echo')).text).toHaveLength(5_000_000);
  });

  it('arguments that are no object reach no server', async () => {
    const { call } = await connected(hostile('good'));
    await expect(call('echo', [1])).rejects.toThrow('not a JSON object');
  });

  it.each(['error', 'stderr', 'refuses'])('no secret of it stands in what one says that %s', async (word) => {
    const secret = 'sk-very-secret-value';
    const failed = await connected(hostile(word, { SECRET: secret }))
      .then(({ call }) => call('echo'))
      .then(String, (error: Error) => error.message);
    expect(failed).not.toContain(secret);
    expect(failed).toContain('•••');
  });

  it('a server inherits nothing of the shell but what every program needs', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-shell');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { call } = await connected(hostile('good', { OWN: 'mine' }));
    const seen = JSON.parse((await call('environment')).text);
    expect(seen).toMatchObject({ OWN: 'mine', PATH: process.env.PATH });
    expect(JSON.stringify(seen)).not.toContain('sk-of-the-shell');
    expect(Object.keys(seen).filter((name) => name.startsWith('CONCERTINA'))).toEqual([]);
  });

  it('no process is left behind: not what it started, not one that hears no signal, not when our process is killed', async () => {
    const own = newHost();
    onTestFinished(() => own.close());
    const connect = (place: ServerPlace, serverId = 's') =>
      own.call('connect', { serverId, place, timeoutMs: 20_000 }, 20_000);
    const note = join(await temporaryFolder(), 'pids');
    const noted = async () => (await readFile(note, 'utf8')).split(' ').map(Number);
    await connect(command([fixture, 'child', note]));
    await connect(hostile('stays'), 'stays');
    const pids = await noted();
    expect(pids.map(lives)).toEqual([true, true]);
    await Promise.all(['s', 'stays'].map((serverId) => own.call('disconnect', { serverId }, 10_000)));
    await vi.waitFor(() => expect(pids.map(lives)).toEqual([false, false]));

    await connect(command([fixture, 'child', note]));
    const others = await noted();
    expect(others.map(lives)).toEqual([true, true]);
    await own.close();
    await vi.waitFor(() => expect(others.map(lives)).toEqual([false, false]));
  }, 30_000);

  it('an address that sends without end, or to another host, is given up', async () => {
    let asked = 0;
    const other = createServer((_, response) => {
      asked++;
      response.end();
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    onTestFinished(() => void other.close());
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const served = createServer((request, response) => {
      if (request.url === '/redirect') return void response.writeHead(307, { location: elsewhere }).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      const block = ' '.repeat(1024 * 1024);
      const write = () => response.write(block, () => response.destroyed || write());
      write();
    });
    await new Promise<void>((done) => served.listen(0, '127.0.0.1', done));
    onTestFinished(() => void served.close());
    const { port } = served.address() as AddressInfo;
    for (const path of ['/endless', '/redirect']) {
      const place = { kind: 'address' as const, url: `http://127.0.0.1:${port}${path}`, headers: { Key: 'secret' } };
      await expect(connected(place)).rejects.toThrow('The server cannot be used');
    }
    expect(asked).toBe(0);
  }, 30_000);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
