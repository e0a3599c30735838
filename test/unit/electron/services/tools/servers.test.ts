/** Real and hostile MCP servers, through the bundle that the app runs: nothing they do hangs, crashes or leaks. */
import { spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServerPlace } from '@/electron/contract/tools/process';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { ToolHost } from '@/electron/services/tools/toolHost';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../../electron/build.mjs';

const bundles = resolve('build/test-bundles');
const fixture = resolve('test/fixtures/tools/server.mjs');
const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

beforeAll(async () => {
  await mkdir(bundles, { recursive: true });
  await bundleForNode('tools', 'electron/workers/tools/main.ts', bundles);
}, 120_000);

function command(args: string[], environment: Record<string, string> = {}): ServerPlace {
  return { kind: 'command', command: process.execPath, args, folder: '', environment };
}

const hostile = (word: string, environment?: Record<string, string>) => command([fixture, word], environment);

function host() {
  const one = new ToolHost(() => forkProcess(join(bundles, 'tools.cjs')), silentLogger);
  onTestFinished(() => one.close());
  return one;
}

async function connected(place: ServerPlace, timeoutMs = 20_000) {
  const tools = host();
  const told = await tools.call('connect', { serverId: 's', place, timeoutMs }, timeoutMs);
  let count = 0;
  const call = (tool: string, given: unknown = {}, ms = timeoutMs) =>
    tools.call(
      'call',
      { serverId: 's', callId: `c${++count}`, tool, timeoutMs: ms, arguments: JSON.stringify(given) },
      ms,
    );
  return { tools, told, call };
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
    return results;
  }

  it('every tool of server-everything is called over stdin and stdout', async () => {
    const results = await callEach(command([everything, 'stdio']));
    expect(Object.keys(results).length).toBeGreaterThanOrEqual(10);
    expect(results.echo).toBe('Echo: hello');
    expect(results['get-sum']).toContain('42');
    expect(results['get-tiny-image']).toMatch(/\[An image \(image\/png, \d+ bytes\) was left out\.\]/);
    expect(results['get-structured-content']).toContain('temperature');
    expect(Object.entries(results).filter(([, text]) => text.startsWith('failed:'))).toEqual([]);
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
    const results = await callEach({ kind: 'address', url, headers: { authorization: 'Bearer secret' } });
    expect(results.echo).toBe('Echo: hello');
    expect(results['get-sum']).toContain('42');
  }, 60_000);

  it('a call is canceled, and the server answers the next one', async () => {
    const { tools, call } = await connected(command([everything, 'stdio']));
    const long = call('trigger-long-running-operation', { duration: 60, steps: 60 });
    await tools.call('cancel', { callId: 'c1' }, 5000);
    await expect(long).rejects.toMatchObject({ code: 'cancelled' });
    expect((await call('echo', { message: 'still here' })).text).toBe('Echo: still here');
  }, 60_000);

  it('a call that fails says so: by the tool, by its arguments, by the system', async () => {
    const { call } = await connected(command([everything, 'stdio']));
    expect(await call('get-sum', { a: 'x', b: 1 })).toMatchObject({ failed: true });
    expect(await call('no-such-tool')).toMatchObject({ failed: true });
    const folder = await temporaryFolder();
    const files = await connected(command([filesystem, folder]));
    const outside = await files.call('read_text_file', { path: '/etc/hostname' });
    expect(outside).toMatchObject({ failed: true });
    expect(outside.text).toContain('Access denied');
  }, 60_000);

  it('hints of the server come along', async () => {
    const { told } = await connected(command([filesystem, await temporaryFolder()]));
    const byName = new Map(told.tools.map((tool) => [tool.tool, tool.hints]));
    expect(byName.get('read_text_file')).toMatchObject({ readOnly: true });
    expect(byName.get('write_file')).toMatchObject({ readOnly: false, destructive: true });
  }, 60_000);
});

describe('hostile servers', () => {
  it.each([
    ['silent', 'did not answer in time', 800],
    ['exits', 'ended with code 2', 20_000],
    ['wrong-list', 'makes no sense in MCP', 20_000],
  ] as const)('one that is %s is given up with a sentence', async (word, says, timeoutMs) => {
    const tools = host();
    const asked = tools.call('connect', { serverId: 's', place: hostile(word), timeoutMs }, timeoutMs);
    await expect(asked).rejects.toThrow(says);
  });

  it('a program that is not there is said to be not there', async () => {
    const place = { ...command([]), command: '/nowhere/at-all' };
    const asked = host().call('connect', { serverId: 's', place, timeoutMs: 5000 }, 5000);
    await expect(asked).rejects.toMatchObject({
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
  }, 60_000);

  it.each([
    ['dies', 'ended with code 3'],
    ['huge', 'more than 16 MiB'],
    ['no-line-end', 'more than 16 MiB'],
    ['floods', 'without end'],
    ['garbage', 'no messages of MCP'],
    ['wrong-result', 'makes no sense in MCP'],
  ])(
    'of one that %s, the call ends with a sentence, and other servers go on',
    async (word, says) => {
      const { tools, call } = await connected(hostile(word));
      await tools.call('connect', { serverId: 'other', place: hostile('good'), timeoutMs: 20_000 }, 20_000);
      await expect(call('echo')).rejects.toThrow(says);
      const other = { serverId: 'other', callId: 'o', tool: 'echo', timeoutMs: 20_000, arguments: '{"a":1}' };
      expect((await tools.call('call', other, 20_000)).text).toBe('{"a":1}');
    },
    60_000,
  );

  it('one that never answers is waited for as long as its settings say', async () => {
    const { call } = await connected(hostile('never'));
    await expect(call('echo', {}, 500)).rejects.toThrow('did not answer in time');
  });

  it.each([
    ['wrong-parts', expect.stringMatching(/left out.*seen/s)],
    ['other-id', 'yours'],
    ['twice', 'first'],
    ['chatty', '{}'],
    ['asks', '{}'],
  ])('one that sends %s is read as far as it makes sense', async (word, text) => {
    const { call } = await connected(hostile(word));
    expect((await call('echo')).text).toEqual(text);
  });

  it('a long result is cut, and its whole length told', async () => {
    const { call } = await connected(hostile('long'));
    const result = await call('echo');
    expect(result.text).toHaveLength(400_000);
    expect(result.characters).toBe(5_000_000);
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
    const note = join(await temporaryFolder(), 'pids');
    const { tools } = await connected(command([fixture, 'child', note]));
    const pids = (await readFile(note, 'utf8')).split(' ').map(Number);
    expect(pids.map(lives)).toEqual([true, true]);
    await tools.call('disconnect', { serverId: 's' }, 10_000);
    await vi.waitFor(() => expect(pids.map(lives)).toEqual([false, false]));

    await tools.call('connect', { serverId: 's', place: hostile('stays'), timeoutMs: 20_000 }, 20_000);
    await tools.call('disconnect', { serverId: 's' }, 10_000);

    await tools.call('connect', { serverId: 's', place: command([fixture, 'child', note]), timeoutMs: 20_000 }, 20_000);
    const others = (await readFile(note, 'utf8')).split(' ').map(Number);
    expect(others.map(lives)).toEqual([true, true]);
    await tools.close();
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
      const opened = host().call('connect', { serverId: 's', place, timeoutMs: 20_000 }, 20_000);
      await expect(opened).rejects.toThrow('The server cannot be used');
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
