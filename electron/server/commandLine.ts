/** What every command shares: how it is described, found and read from a line; its help, and the code that it ends with. */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type ConcertinaError, messageOf } from '../contract/errors';
import { type AdapterChoice, mostAdapterScale } from '../contract/lib/domains/adapters';
import {
  autoContext,
  type ContextSettings,
  cacheTypes,
  contextSettingsSchema,
  type SettingsPatch,
  settingsOperations,
} from '../contract/settings';

export interface OptionSpec {
  type: 'string' | 'boolean';
  multiple?: boolean;
  /** what stands for the value in help: FILE; none for a switch */
  value?: string;
  /** all values that there are */
  values?: readonly string[];
  about: string;
}
export type OptionSpecs = Record<string, OptionSpec>;

/** Help, completion and the reading of a line all come from this. */
export interface CommandSpec {
  /** one word, or two: `models pull` */
  name: string;
  /** what follows the name, as help shows it */
  takes: string;
  /** one line */
  about: string;
  /** more for the help of the command; '' : the line says it all */
  details: string;
  options: OptionSpecs;
  examples: readonly (readonly [line: string, about: string])[];
}

type Value<S extends OptionSpec> = S['type'] extends 'boolean'
  ? boolean
  : S['multiple'] extends true
    ? string[]
    : string;
export type ValuesOf<O extends OptionSpecs> = { [K in keyof O]?: Value<O[K]> };

/** The line makes no sense; the message is one sentence, and `command` the one whose help explains it. */
export class UsageError extends Error {
  command = '';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, doesNotFit: 3, canceled: 130 } as const;

export function exitCodeOf({ code }: ConcertinaError): number {
  if (code === 'cancelled') return exitCodes.canceled;
  return code === 'out-of-memory' || code === 'context-full' ? exitCodes.doesNotFit : exitCodes.failed;
}

/** What happened and what to do about it, in one line. */
export function inOneLine({ message, hint }: ConcertinaError): string {
  return `${message.replace(/\.$/, '')}. ${hint}`.trim();
}

// Reading a line.

/** Throws `UsageError` when an option is not one of the command's. */
export function parseLine<O extends OptionSpecs>(
  { options }: { options: O },
  args: readonly string[],
): { values: ValuesOf<O>; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options }) as never;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const option = /'(-[^' =]*)/.exec(messageOf(error))?.[1];
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || !option) throw new UsageError(messageOf(error));
    const near = nearest(
      option,
      Object.keys(options).map((name) => `--${name}`),
    );
    throw new UsageError(`There is no option ${option}.${near ? ` Did you mean ${near}?` : ''}`);
  }
}

/** The command that a line begins with, and the rest of the line. Throws `UsageError` with the nearest name. */
export function findCommand<C extends CommandSpec>(
  commands: readonly C[],
  [first = '', second = '', ...others]: readonly string[],
): { command: C; rest: string[] } {
  const two = commands.find(({ name }) => name === `${first} ${second}`);
  if (two) return { command: two, rest: others };
  const one = commands.find(({ name }) => name === first);
  if (one) return { command: one, rest: second === '' && others.length === 0 ? [] : [second, ...others] };
  const group = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  throw new UsageError(`There is no command ${`${first} ${group.length > 0 ? second : ''}`.trim()}.${hint()}`);

  function hint(): string {
    const word = group.length > 0 ? second : first;
    const last = (name: string) => name.split(' ').at(-1) ?? name;
    const near = nearest(word, (group.length > 0 ? group : commands.map(({ name }) => name)).map(last));
    const found = commands.filter(({ name }) => last(name) === near).map(({ name }) => name);
    return found.length > 0 ? ` Did you mean ${orList(found)}?` : '';
  }
}

function orList(names: readonly string[]): string {
  return names.map((name) => `concertina ${name}`).join(', or ');
}

/** Of these words the one with the fewest different letters; none where all differ too much. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const ranked = words.map((one) => ({ one, distance: distanceOf(word.toLowerCase(), one.toLowerCase()) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(best.one.length / 3)) ? best.one : undefined;
}

/** Letters to add, to leave out, to change, or to swap with the next one. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

// Options of several commands.

export const dataOption = {
  data: { type: 'string', value: 'DIR', about: 'folder of chats, models and settings (~/.concertina)' },
} as const satisfies OptionSpecs;

export const jsonOption = {
  json: { type: 'boolean', about: 'prints the answer as JSON, for programs' },
} as const satisfies OptionSpecs;

/** `text`: from the text before, which is the usual way; `mtp`: by layers of the model that are made for it */
const draftingWays = ['off', 'text', 'mtp'];

export const contextOptions = {
  context: {
    type: 'string',
    value: 'TOKENS',
    about: 'length of the context, or auto: the longest that fits and leaves memory free, at most as trained',
  },
  cache: {
    type: 'string',
    value: 'TYPE',
    values: [...cacheTypes, 'auto:'],
    about: 'cache type of keys and values, or a budget for both: auto:3.5 (bits a value), auto:2GiB',
  },
  'type-k': { type: 'string', value: 'TYPE', values: cacheTypes, about: 'cache type of the keys' },
  'type-v': { type: 'string', value: 'TYPE', values: cacheTypes, about: `of the values: ${cacheTypes.join(', ')}` },
  drafting: { type: 'string', value: 'HOW', values: draftingWays, about: `tokens ahead: ${draftingWays.join(', ')}` },
  'draft-model': {
    type: 'string',
    value: 'MODEL',
    about: 'a small model that drafts: a file, or one of `models list`',
  },
  mmproj: { type: 'string', value: 'FILE', about: 'what reads images and sound; left out: the one beside the model' },
  'no-mmproj': { type: 'boolean', about: 'no images and no sound, and no memory for them' },
  lora: {
    type: 'string',
    multiple: true,
    value: 'FILE[:SCALE]',
    about: `a LoRA adapter (GGUF), or one of \`models list\`; scale 0 to ${mostAdapterScale}, 1 when left out`,
  },
} as const satisfies OptionSpecs;

export const samplingOptions = {
  system: { type: 'string', value: 'TEXT', about: 'system prompt' },
  temperature: { type: 'string', value: 'N', about: '0: always the likeliest token' },
  seed: { type: 'string', value: 'N', about: 'the same answer again' },
  'max-tokens': { type: 'string', value: 'N', about: 'of an answer at the most; 0: until the context is full' },
  'no-thinking': { type: 'boolean', about: 'answers at once, where the model can do without thinking' },
} as const satisfies OptionSpecs;

type SettingValues = ValuesOf<typeof contextOptions & typeof samplingOptions>;

/** What these options say of the settings, and no more. Throws `UsageError` for values out of bounds. */
export function settingsOf(values: SettingValues): SettingsPatch {
  if (values.cache !== undefined && (values['type-k'] ?? values['type-v']) !== undefined) {
    throw new UsageError('--cache sets both types: leave out --type-k and --type-v.');
  }
  const number = (text: string | undefined) =>
    text === undefined ? undefined : text.trim() === '' ? Number.NaN : Number(text);
  const parsed = settingsOperations['settings.update'].input.safeParse({
    systemPrompt: values.system,
    context: {
      ...{
        nCtx: values.context === 'auto' ? autoContext : number(values.context),
        typeK: values.cache ?? values['type-k'],
        typeV: values.cache ?? values['type-v'],
      },
      ...draftingOf(values),
      projector: projectorOf(values),
      adapters: values.lora?.map(adapterOf),
    },
    sampling: {
      temperature: number(values.temperature),
      seed: number(values.seed),
      maxTokens: number(values['max-tokens']),
    },
    template: values['no-thinking'] ? { thinking: false } : undefined,
  });
  if (parsed.success) return parsed.data;
  const names: Record<string, string> = {
    speculation: 'drafting',
    nCtx: 'context',
    typeK: values.cache === undefined ? 'type-k' : 'cache',
    typeV: 'type-v',
    maxTokens: 'max-tokens',
  };
  const issue = parsed.error.issues[0];
  const setting = issue?.path.includes('adapters') ? 'lora' : String(issue?.path.at(-1));
  throw new UsageError(`--${names[setting] ?? setting}: ${issue?.message}.`);
}

function draftingOf({ drafting, 'draft-model': model }: SettingValues) {
  if (model === undefined) return { speculation: drafting === 'text' ? 'ngram' : drafting };
  if (drafting !== undefined) throw new UsageError('--draft-model and --drafting choose two different ways to draft.');
  return { speculation: 'draft', draftModel: existsSync(model) ? resolve(model) : model };
}

function projectorOf({ mmproj, 'no-mmproj': none }: SettingValues): string | undefined {
  if (mmproj !== undefined && none) throw new UsageError('--mmproj and --no-mmproj exclude each other.');
  return none ? '' : mmproj && resolve(mmproj);
}

/** What follows the last colon is a scale where it is a number: a path of Windows has a colon, too. */
function adapterOf(word: string): AdapterChoice {
  const [, file, scale] = (!existsSync(word) && /^(.+):(\d*\.?\d+)$/.exec(word)) || ['', word, '1'];
  return { model: existsSync(file) ? resolve(file) : file, scale: Number(scale) };
}

/** A whole context: what is not named is as in a new data folder. */
export function contextOf(values: SettingValues): ContextSettings {
  return contextSettingsSchema.parse(settingsOf(values).context ?? {});
}

export function dataFolderOf({ data }: ValuesOf<typeof dataOption>): string {
  return resolve(data ?? join(os.homedir(), '.concertina'));
}

// Help.

/** Of the whole program, of a group like `models`, or of one command; null: none of its words asks for help. */
export function helpFor(commands: readonly CommandSpec[], args: readonly string[]): string | null {
  const end = args.indexOf('--');
  const words = end < 0 ? args : args.slice(0, end);
  const named = words.filter((word) => !word.startsWith('-')).slice(words[0] === 'help' ? 1 : 0);
  const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
  const openGroup = group.length > 0 && named.length === 1;
  const asked = words.length === 0 || words[0] === 'help' || words.includes('--help') || words.includes('-h');
  if (!asked && !openGroup) return null;
  if (named.length === 0 || openGroup) return overview(openGroup ? group : commands);
  return commandHelp(findCommand(commands, named).command);
}

function overview(commands: readonly CommandSpec[]): string {
  return `Concertina: local language models over long documents, with a compressed KV cache

Usage: concertina COMMAND [options]

${columns(commands.map(({ name, about }) => [name, about]))}

concertina COMMAND --help explains a command and shows examples.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the model does not fit into the memory or the text into the context,
130 canceled. HF_ENDPOINT, HF_TOKEN, HTTPS_PROXY and NO_PROXY are honored.`;
}

export function commandHelp({ name, takes, about, details, options, examples }: CommandSpec): string {
  const rows = Object.entries(options).map(([option, spec]) => [
    `--${option}${spec.value ? ` ${spec.value}` : ''}`,
    `${spec.about}${spec.multiple ? '; may be given several times' : ''}`,
  ]);
  return [
    `Usage: ${`concertina ${name} ${takes}`.trim()}${rows.length > 0 ? ' [options]' : ''}`,
    `\n${about.charAt(0).toUpperCase()}${about.slice(1)}.${details && `\n${details}`}`,
    ...(rows.length > 0 ? ['\nOptions', columns(rows)] : []),
    ...(examples.length > 0 ? ['\nExamples'] : []),
    ...examples.map(([line, what]) => `  concertina ${line}\n      ${what}`),
  ].join('\n');
}

/** Rows as aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, text.length);
  }
  const line = (row: readonly string[]) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => `  ${line(row)}`.trimEnd()).join('\n');
}

// What goes to stderr: how far a command is.

export interface Status {
  /** on a terminal one line that is drawn anew; elsewhere a line for each new `stage` */
  show(stage: string, detail?: string): void;
  /** a line that stays */
  line(text: string): void;
  clear(): void;
}

export function createStatus(out: NodeJS.WriteStream = process.stderr): Status {
  let shown = '';
  function clear(): void {
    if (out.isTTY && shown !== '') out.write('\r\x1b[K');
    shown = '';
  }
  return {
    clear,
    show(stage, detail = '') {
      if (out.isTTY) out.write(`\r\x1b[K${`${stage} ${detail}`.trim().slice(0, (out.columns || 80) - 1)}`);
      else if (stage !== shown) out.write(`${stage}\n`);
      shown = stage;
    },
    line(text) {
      clear();
      out.write(`${text}\n`);
    },
  };
}
