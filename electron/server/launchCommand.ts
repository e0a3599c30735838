/**
 * `concertina launch`: a coding client that talks to the API of this machine, without a line in its own settings. What it needs
 * to know stands in its environment and on its line, and is gone when it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import os from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ConcertinaError, messageOf } from '../contract/errors';
import {
  type CommandSpec,
  contextOptions,
  dataFolderOf,
  dataOption,
  parseLine,
  settingsOf,
  UsageError,
} from './commandLine';
import type { Command, Surroundings } from './commandServices';
import { endWithStdin, keyFileOf } from './options';

/** What a client is told. */
interface Served {
  /** without a path */
  url: string;
  key: string;
  model: string;
  /** null: the server does not say */
  nCtx: number | null;
}

interface Client {
  /** of npm */
  package: string;
  /** null takes a variable away */
  env(served: Served): Record<string, string | null>;
  /** before those of the person */
  args(served: Served): string[];
}

const keyVariable = 'CONCERTINA_API_KEY';

/** Each is pointed at a server as its own documentation says. */
const clients: Record<string, Client> = {
  claude: {
    package: '@anthropic-ai/claude-code',
    env: ({ url, key, model, nCtx }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key,
      // it would be shown in place of the token
      ANTHROPIC_API_KEY: null,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      // a line that differs with each request, and asks for other servers
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...(nCtx !== null && { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(nCtx) }),
    }),
    args: () => [],
  },
  codex: {
    package: '@openai/codex',
    env: ({ key }) => ({ [keyVariable]: key }),
    args: ({ url, model, nCtx }) =>
      Object.entries({
        model,
        model_provider: 'concertina',
        'model_providers.concertina.name': 'Concertina',
        'model_providers.concertina.base_url': `${url}/v1`,
        'model_providers.concertina.env_key': keyVariable,
        'model_providers.concertina.wire_api': 'responses',
        ...(nCtx !== null && { model_context_window: nCtx }),
        // a string of JSON is one of TOML
      }).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]),
  },
  opencode: {
    package: 'opencode-ai',
    env: ({ url, key, model, nCtx }) => ({
      [keyVariable]: key,
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: `concertina/${model}`,
        small_model: `concertina/${model}`,
        provider: {
          concertina: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Concertina',
            options: { baseURL: `${url}/v1`, apiKey: `{env:${keyVariable}}` },
            models: {
              [model]: {
                name: model,
                ...(nCtx !== null && { limit: { context: nCtx, output: Math.floor(nCtx / 4) } }),
              },
            },
          },
        },
      }),
    }),
    args: () => [],
  },
};

const names = Object.keys(clients);

const spec = {
  name: 'launch',
  takes: `${names.join(' | ')} [-- ARGS]`,
  about: 'starts a coding client that talks to a model of this machine',
  details: `It starts \`concertina serve\` on a free port, which ends with the client; with --port it uses the one that runs there.
The client's own settings stay as they are. What follows -- is for the client. Its exit code is that of the command.`,
  options: {
    port: { type: 'string', value: 'N', about: 'of a server that runs, in place of one of its own' },
    key: { type: 'string', value: 'KEY', about: 'of that server (the one kept in the data folder)' },
    model: { type: 'string', value: 'FILE', about: 'GGUF file to add and load' },
    ...contextOptions,
    ...dataOption,
  },
  examples: [
    ['launch claude --model ~/models/qwen.gguf --context 131072', 'Claude Code with this model'],
    ['launch codex --port 8170', 'Codex with the server that runs'],
    ['launch opencode -- run "What does this project do?"', 'one question to OpenCode'],
  ],
} as const satisfies CommandSpec;

export const launchCommand: Command = { ...spec, run: (args, around) => launch(parseLaunch(args), around) };

interface Launch {
  name: string;
  args: string[];
  /** null: a server of its own, with these options */
  port: number | null;
  key: string | null;
  dataFolder: string;
  serveOptions: string[];
}

/** Throws `UsageError` when the line makes no sense. */
export function parseLaunch(line: readonly string[]): Launch {
  const end = line.indexOf('--');
  const { values, positionals } = parseLine(spec, end < 0 ? line : line.slice(0, end));
  const [name = '', ...more] = positionals;
  if (!Object.hasOwn(clients, name)) throw new UsageError(`launch starts ${names.join(', ')}, and not "${name}".`);
  if (more.length > 0) throw new UsageError(`What ${name} is to get stands behind --: launch ${name} -- ${more[0]}`);
  const { port, key, data: _data, ...own } = values;
  settingsOf(own);
  const number = port === undefined ? null : Number(port);
  if (number !== null && !(Number.isInteger(number) && number > 0 && number <= 65_535)) {
    throw new UsageError(`--port ${port} is not a port number.`);
  }
  const [option] = Object.keys(own);
  if (number !== null && option) throw new UsageError(`--${option} is for a server of its own, and not with --port.`);
  if (number === null && key !== undefined) throw new UsageError('--key belongs to the server that --port names.');
  return {
    ...{ name, args: end < 0 ? [] : line.slice(end + 1), port: number, key: key ?? null },
    dataFolder: dataFolderOf(values),
    serveOptions: Object.entries(own).flatMap(([one, value]) =>
      value === true ? [`--${one}`] : [`--${one}`, String(value)],
    ),
  };
}

async function launch(order: Launch, around: Surroundings): Promise<number> {
  const client = clients[order.name];
  if (!client) throw new UsageError(`launch starts ${names.join(', ')}.`);
  const program = programOf(order.name, client);
  const server = order.port === null ? await startServer(order, around) : null;
  try {
    const url = server?.url ?? `http://127.0.0.1:${order.port}`;
    const served = await askModel(url, server?.key ?? order.key ?? keptKey(order.dataFolder));
    around.status.clear();
    return await runClient(program, [...client.args(served), ...order.args], client.env(served));
  } finally {
    await server?.stop();
  }
}

/** What is started, and what stands before its options. */
interface Program {
  file: string;
  before: string[];
}

/** Looked for before anything is started. Throws `not-found`. */
function programOf(name: string, client: Client): Program {
  const files = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const found = folders.flatMap((folder) => files.map((file) => join(folder, file))).find(isProgram);
  const program = found?.endsWith('.cmd') ? behindShim(found) : found && { file: found, before: [] };
  if (program) return program;
  throw new ConcertinaError(
    'not-found',
    `No folder of PATH has the program ${files.join(' or ')}.`,
    `Install it with: npm install -g ${client.package}`,
  );
}

/**
 * npm installs a script for cmd.exe on Windows, which Node does not start, and which would read signs of its own in the options:
 * what it starts is started in its place. Null: it is not npm's.
 */
function behindShim(shim: string): Program | null {
  const named = /"%(?:~?dp0%?)\\?([^"%]+)"\s+%\*/i.exec(readFileSync(shim, 'utf8'))?.[1];
  if (named === undefined) return null;
  const target = join(dirname(shim), ...named.split('\\'));
  return /\.[cm]?js$/.test(target) ? { file: process.execPath, before: [target] } : { file: target, before: [] };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Resolves when its model is loaded. It gets no Ctrl-C of the terminal, which is for the client, and ends with this process,
 * however that does: its stdin is a pipe that closes then.
 */
async function startServer({ dataFolder, serveOptions }: Launch, { program, status, signal }: Surroundings) {
  const key = randomBytes(24).toString('base64url');
  const line = [program, 'serve', '--port', '0', '--key', key, '--data', dataFolder, ...serveOptions];
  status.show('Loading the model');
  const env = { ...process.env, [endWithStdin]: '1' };
  // a process of its own would open a window of the command line on Windows
  const child = spawn(process.execPath, line, { stdio: 'pipe', detached: true, windowsHide: true, env });
  // signals end a process of Windows at once, before it has kept what it must: the end of its stdin does not
  const kill = () => void (process.platform === 'win32' ? child.stdin.end() : child.kill());
  process.on('exit', kill);
  signal.addEventListener('abort', kill);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    process.off('exit', kill);
    signal.removeEventListener('abort', kill);
    kill();
    await ended;
  };
  return { url: await addressOf(child, signal), key, stop };
}

function addressOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    let complaint = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += String(chunk);
      const url = /^API (http\S+)\/v1$/m.exec(printed)?.[1];
      if (url) resolve(url);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint += String(chunk);
    });
    child.once('error', reject);
    // its output is complete
    child.once('close', () => {
      if (signal.aborted) return reject(new ConcertinaError('cancelled', 'The start was canceled.'));
      const reason = complaint.trim().split('\n').at(-1) ?? '';
      const hint = `${reason} With --port it uses a server that runs.`.trim();
      reject(new ConcertinaError('engine-unavailable', 'concertina serve did not start.', hint));
    });
  });
}

/** The key that `concertina serve` keeps with its chats; '': there is none, and the server may need none. */
function keptKey(dataFolder: string): string {
  try {
    return readFileSync(keyFileOf(dataFolder), 'utf8').trim();
  } catch {
    return '';
  }
}

/** Rejects where no model answers. */
async function askModel(url: string, key: string): Promise<Served> {
  const response = await fetch(`${url}/v1/models`, { headers: { Authorization: `Bearer ${key}` } }).catch(
    (error: unknown) => {
      const hint = 'Start one with: concertina serve';
      throw new ConcertinaError('not-found', `No server answers at ${url} (${messageOf(error)}).`, hint);
    },
  );
  if (response.status === 401) {
    throw new ConcertinaError('bad-request', `The server at ${url} wants another key.`, 'Name it with --key.');
  }
  const list = (await response.json().catch(() => null)) as {
    data?: { id: string; meta?: { n_ctx?: number } }[];
  } | null;
  // the first one is in use
  const [first] = list?.data ?? [];
  if (first) return { url, key: key || 'none', model: first.id, nCtx: first.meta?.n_ctx ?? null };
  throw new ConcertinaError('model-missing', `The server at ${url} has no model.`, 'concertina serve --model FILE');
}

/** @returns its exit code, as a shell tells it */
function runClient({ file, before }: Program, args: string[], changes: Record<string, string | null>): Promise<number> {
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete env[name];
    else env[name] = value;
  }
  const child = spawn(file, [...before, ...args], { stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? os.constants.signals[signal] : 0)));
  });
}
