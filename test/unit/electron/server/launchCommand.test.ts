/** `concertina launch` with a client that writes down what it was given, and a server that says which model it has. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Surroundings } from '@/electron/server/commandServices';
import { launchCommand, parseLaunch } from '@/electron/server/launchCommand';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** in place of `concertina serve`: the key and the options that it was given stand in the name of its model */
const serve = `
const args = process.argv.slice(3);
const key = args[args.indexOf('--key') + 1];
const server = require('node:http').createServer((request, response) => {
  const allowed = request.headers.authorization === 'Bearer ' + key;
  const meta = { n_ctx: 4096 };
  response.writeHead(allowed ? 200 : 401);
  response.end(JSON.stringify({ data: [{ id: args.slice(args.indexOf('--model')).join(' '), meta }, { id: 'other' }] }));
});
if (process.env.TEST_REFUSAL) {
  console.error(process.env.TEST_REFUSAL);
  process.exit(1);
}
process.on('SIGTERM', () => {
  require('node:fs').writeFileSync(process.env.TEST_OUT + '.ended', '');
  process.exit(0);
});
server.listen(0, '127.0.0.1', () => console.log('API http://127.0.0.1:' + server.address().port + '/v1'));
`;

const client = `#!${process.execPath}
const { env, argv } = process;
require('node:fs').writeFileSync(env.TEST_OUT, JSON.stringify({ env, args: argv.slice(2) }));
process.exit(7);
`;

/** @returns what to launch with, and what the client was given */
async function setUp(programs: string[] = ['claude', 'codex', 'opencode']) {
  const folder = await temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of programs) {
    writeFileSync(join(bin, name), client);
    chmodSync(join(bin, name), 0o755);
  }
  const program = join(folder, 'serve.cjs');
  writeFileSync(program, serve);
  const out = join(folder, 'out.json');
  vi.stubEnv('PATH', `${bin}${delimiter}${join(folder, 'none')}`);
  vi.stubEnv('TEST_OUT', out);
  vi.stubEnv('ANTHROPIC_API_KEY', 'of-the-person');
  const status = { show: vi.fn(), line: vi.fn(), clear: vi.fn() };
  const around = { program, status, signal: new AbortController().signal } as unknown as Surroundings;
  const run = (line: string[]) => launchCommand.run([...line, '--data', folder], around);
  const given = () => JSON.parse(readFileSync(out, 'utf8')) as { env: Record<string, string>; args: string[] };
  return { folder, run, given, hasEnded: () => existsSync(`${out}.ended`), around };
}

test('claude gets the address, the key and the model of a server that ends with it, and its exit code is that of the command', async () => {
  const { folder, around, given, hasEnded } = await setUp();
  const line = `claude --model m.gguf --context 4096 --data ${folder} -- -p hello`;
  expect(await launchCommand.run(line.split(' '), around)).toBe(7);
  const { env, args } = given();
  const model = '--model m.gguf --context 4096';
  expect(env).toMatchObject({
    ANTHROPIC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    ANTHROPIC_AUTH_TOKEN: expect.stringMatching(/^.{32}$/),
    ...{ ANTHROPIC_MODEL: model, ANTHROPIC_DEFAULT_HAIKU_MODEL: model, CLAUDE_CODE_AUTO_COMPACT_WINDOW: '4096' },
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
  });
  expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
  expect(args).toEqual(['-p', 'hello']);
  expect(hasEnded()).toBe(true);
});

/** a server that runs already, with the key of a data folder */
async function running(folder: string, data: { id: string; meta?: { n_ctx: number } }[]): Promise<string> {
  writeFileSync(join(folder, 'serve.key'), 'kept-key\n');
  const server = createServer((request, response) => {
    response.writeHead(request.headers.authorization === 'Bearer kept-key' ? 200 : 401).end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return String((server.address() as AddressInfo).port);
}

test('codex and opencode get a provider of their own for a server that runs, with the key of the data folder', async () => {
  const { folder, run, given, hasEnded } = await setUp();
  const port = await running(folder, [{ id: 'a "b".gguf', meta: { n_ctx: 32_768 } }]);
  expect(await run(['codex', '--port', port])).toBe(7);
  const { env, args } = given();
  expect(env).toMatchObject({ CONCERTINA_API_KEY: 'kept-key' });
  expect(args.filter((arg) => arg !== '-c')).toEqual([
    'model="a \\"b\\".gguf"',
    'model_provider="concertina"',
    'model_providers.concertina.name="Concertina"',
    `model_providers.concertina.base_url="http://127.0.0.1:${port}/v1"`,
    'model_providers.concertina.env_key="CONCERTINA_API_KEY"',
    'model_providers.concertina.wire_api="responses"',
    'model_context_window=32768',
  ]);
  expect(await run(['opencode', '--port', port])).toBe(7);
  const config = JSON.parse(given().env.OPENCODE_CONFIG_CONTENT ?? '');
  expect(config).toMatchObject({ model: 'concertina/a "b".gguf', small_model: config.model });
  expect(config.provider.concertina).toMatchObject({
    options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: '{env:CONCERTINA_API_KEY}' },
    models: { 'a "b".gguf': { limit: { context: 32_768, output: 8192 } } },
  });
  expect(JSON.stringify(config)).not.toContain('kept-key');
  expect(hasEnded()).toBe(false);
});

/** as npm writes it (cmd-shim) */
const shim = (target: string) => `@ECHO off\r
IF EXIST "%dp0%\\node.exe" (\r
  SET "_prog=%dp0%\\node.exe"\r
) ELSE (\r
  SET "_prog=node"\r
)\r
endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\${target}" %*\r
`;

test('on Windows, where npm installs a script for cmd.exe, the program behind it is started with its options as they are', async () => {
  const { folder, run, given, around } = await setUp([]);
  const bin = join(folder, 'bin');
  mkdirSync(join(bin, 'node_modules', 'codex'), { recursive: true });
  writeFileSync(join(bin, 'node_modules', 'codex', 'codex.js'), client);
  writeFileSync(join(bin, 'codex.cmd'), shim('node_modules\\codex\\codex.js'));
  writeFileSync(join(bin, 'claude.cmd'), '@ECHO off\r\nREM of somebody else\r\n');
  for (const name of ['codex.cmd', 'claude.cmd']) chmodSync(join(bin, name), 0o755);
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
  onTestFinished(() => platform.mockRestore());
  const port = await running(folder, [{ id: 'm.gguf' }]);
  const odd = 'say "a & b" %PATH%';
  expect(await launchCommand.run(['codex', '--port', port, '--data', folder, '--', odd], around)).toBe(7);
  expect(given().args).toEqual(expect.arrayContaining(['model="m.gguf"', odd]));
  await expect(run(['claude', '--port', port])).rejects.toMatchObject({ code: 'not-found' });
});

test('what is missing is said with what to do, before anything is started', async () => {
  const { folder, run, hasEnded } = await setUp(['claude']);
  await expect(run(['codex'])).rejects.toMatchObject({
    ...{ code: 'not-found', hint: 'Install it with: npm install -g @openai/codex' },
  });
  const port = await running(folder, []);
  await expect(run(['claude', '--port', port])).rejects.toMatchObject({ code: 'model-missing' });
  await expect(run(['claude', '--port', port, '--key', 'another'])).rejects.toMatchObject({ hint: /--key/ });
  vi.stubEnv('TEST_REFUSAL', 'Concertina already runs with this folder.');
  await expect(run(['claude'])).rejects.toMatchObject({
    ...{ code: 'engine-unavailable', hint: expect.stringMatching(/^Concertina already runs.*--port/) },
  });
  expect(hasEnded()).toBe(false);
});

test.each([
  ['', /claude, codex, opencode/],
  ['cursor', /claude, codex, opencode/],
  ['claude -p hello', /-p/],
  ['claude fix', /launch claude -- fix/],
  ['claude --port 0', /--port 0/],
  ['claude --port 8170 --context 4096', /--context is for a server of its own/],
  ['claude --key abc', /--key belongs/],
  ['claude --context many', /--context/],
])('launch %s makes no sense', (line, message) => {
  expect(() => parseLaunch(line.split(' ').filter(Boolean))).toThrow(message);
});
