/** `concertina serve`: its line, and where the key of its data folder is. */

import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { defaultApiPort, isOrigin, mostIdleMinutes } from '../contract/lib/localApi';
import type { SettingsPatch } from '../contract/settings';
import { isLoopback } from '../services/api/access';
import {
  type CommandSpec,
  contextOptions,
  dataFolderOf,
  dataOption,
  parseLine,
  settingsOf,
  UsageError,
  type ValuesOf,
} from './commandLine';

export interface ServeOptions {
  port: number;
  /** addresses, at least one */
  hosts: string[];
  dataFolder: string;
  /** a model file to load at start, in place of the remembered one */
  model: string | null;
  /** for this run alone */
  settings: SettingsPatch;
  /** that clients of the API show; `kept`: the one of the data folder, null: none */
  key: { given: string } | 'kept' | null;
  /** origins of pages that may use the API */
  cors: string[];
  /** milliseconds; null: the model stays loaded */
  idleMs: number | null;
  /** requests cannot have another model loaded */
  oneModel: boolean;
  /** answers of the API that are written at the same time */
  slots: number;
  /** for the core of llama-server */
  coreOptions: string[];
}

export const defaultSlots = 4;
const mostSlots = 64;

export const serveSpec = {
  name: 'serve',
  takes: '',
  about: 'serves the app to a browser on this machine, and the API of llama-server to programs',
  details: `Prints the address of the app, which includes an access key, and that of the API, which wants the same key unless
--key or --no-key says otherwise. A request that names another model of \`models list\` has it loaded. What follows --
are options of llama-server for its core. Options of the context count for this run alone. Stop it with Ctrl-C.`,
  options: {
    port: { type: 'string', value: 'N', about: 'port on this machine (8170; another free one when that is taken)' },
    host: {
      type: 'string',
      value: 'ADDRESS[,ADDRESS]',
      about: 'to listen on (127.0.0.1); one that other machines reach only with --key, and for the API alone',
    },
    model: { type: 'string', value: 'FILE', about: 'GGUF file to add and load' },
    key: { type: 'string', value: 'KEY', about: 'that clients of the API show, in place of the kept one' },
    'no-key': { type: 'boolean', about: 'every program of this machine may use the API' },
    cors: {
      type: 'string',
      value: 'ORIGIN[,ORIGIN]',
      about: 'pages that may use the API; localhost: any of this machine',
    },
    'idle-unload': {
      type: 'string',
      value: 'MINUTES',
      about: 'frees the memory of a model that was not used for so long',
    },
    'one-model': { type: 'boolean', about: 'requests cannot have another model loaded' },
    slots: { type: 'string', value: 'N', about: `answers of the API at the same time (${defaultSlots})` },
    ...contextOptions,
    ...dataOption,
  },
  examples: [
    ['serve', 'the app at http://127.0.0.1:8170'],
    ['serve --model ~/models/qwen.gguf --port 9000', 'with this model, on another port'],
    ['serve --no-key --context 32768 --slots 2', 'the API for programs that can show no key'],
    [
      'serve --host 0.0.0.0 --key "$KEY" -- --context-shift',
      'the API for other machines, with an option of llama-server',
    ],
  ],
} as const satisfies CommandSpec;

/** Variable of the environment with which the server ends when its stdin does: whoever started it holds the other end. */
export const endWithStdin = 'CONCERTINA_END_WITH_STDIN';

/** Where headless mode keeps the key of the page and the API. */
export function keyFileOf(dataFolder: string): string {
  return join(dataFolder, 'serve.key');
}

/** Throws `UsageError` with one sentence when the line makes no sense. */
export function parseServeOptions(args: readonly string[]): ServeOptions & { portAsked: boolean } {
  const end = args.indexOf('--');
  const { values, positionals } = parseLine(serveSpec, end < 0 ? args : args.slice(0, end));
  if (positionals.length > 0) {
    throw new UsageError(
      `serve takes options only, and not ${positionals[0]}. Commands stand alone: concertina --help lists them.`,
    );
  }
  return {
    ...accessOf(values),
    port: values.port === undefined ? defaultApiPort : parsePort(values.port),
    portAsked: values.port !== undefined,
    dataFolder: dataFolderOf(values),
    model: values.model === undefined ? null : resolve(values.model),
    settings: settingsOf(values),
    cors: (values.cors ?? '').split(',').filter(Boolean).map(parseOrigin),
    idleMs:
      values['idle-unload'] === undefined
        ? null
        : numberOf('idle-unload', values['idle-unload'], mostIdleMinutes) * 60_000,
    oneModel: values['one-model'] ?? false,
    slots: values.slots === undefined ? defaultSlots : numberOf('slots', values.slots, mostSlots),
    coreOptions: end < 0 ? [] : coreOptionsOf(args.slice(end + 1)),
  };
}

/** Whoever reaches the API from another machine must show a key that somebody chose for that. */
function accessOf(values: ValuesOf<typeof serveSpec.options>): Pick<ServeOptions, 'hosts' | 'key'> {
  const { host = '127.0.0.1', key, 'no-key': noKey } = values;
  const hosts = host.split(',');
  const open = hosts.find((one) => !isLoopback(one));
  if (key !== undefined && noKey) throw new UsageError('--key and --no-key say the opposite of each other.');
  if (key !== undefined && !/^[\x21-\x7e]{8,}$/.test(key)) {
    throw new UsageError('--key: at least 8 characters, without spaces and letters beyond ASCII.');
  }
  const unknown = hosts.find((one) => !isLoopback(one) && isIP(one) === 0);
  if (unknown !== undefined) throw new UsageError(`--host ${unknown}: an address of this machine is needed.`);
  if (open !== undefined && key === undefined) {
    throw new UsageError(`--host ${open}: other machines reach this address. Give the API a key with --key.`);
  }
  return { hosts, key: key === undefined ? (noKey ? null : 'kept') : { given: key } };
}

function parseOrigin(text: string): string {
  if (isOrigin(text)) return text;
  throw new UsageError(
    `--cors ${text} is no origin. One looks like http://localhost:3000; localhost and * stand for many.`,
  );
}

function numberOf(option: string, text: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number <= most) return number;
  throw new UsageError(`--${option} ${text}: a whole number from 1 to ${most}.`);
}

/** They print something and end the process, which is the engine's. */
const endsTheProcess = new Set(
  '-h --help --usage --version --license -cl --cache-list --list-devices --completion-bash'.split(' '),
);

/** What follows `--` on a line. Throws `UsageError` for those that would end the process. */
export function coreOptionsOf(options: readonly string[]): string[] {
  const refused = options.find((option) => endsTheProcess.has(option.replace(/=.*$/s, '').replaceAll('_', '-')));
  if (refused)
    throw new UsageError(`${refused} is no option of the core of llama-server: it prints something and ends.`);
  return [...options];
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${text} is not a port number.`);
  return port;
}
