/** Commands of headless mode that do one thing and end: `npm run serve -- pull OWNER/NAME:QUANT`. */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../contract/errors';
import { type HubSort, hubSortSchema } from '../contract/hub';
import { type ContextSettings, contextSettingsSchema } from '../contract/settings';
import { UsageError } from './options';

export const commandNames = ['search', 'pull', 'list', 'inspect', 'estimate'] as const;
export type CommandName = (typeof commandNames)[number];

/** `file` and `quant`: null where the line does not say */
export type Target =
  | { kind: 'path'; path: string }
  | { kind: 'hub'; repo: string; file: string | null; quant: string | null };

export interface Command {
  name: CommandName;
  words: string[];
  json: boolean;
  dataFolder: string;
  revision: string;
  sort: HubSort;
  context: ContextSettings;
}

export const commandUsage = `       npm run serve -- search WORDS [--sort trending|downloads|likes|updated]
       npm run serve -- pull OWNER/NAME[:QUANT | /FILE] [--revision COMMIT]
       npm run serve -- list
       npm run serve -- inspect FILE | OWNER/NAME[:QUANT]
       npm run serve -- estimate FILE | OWNER/NAME:QUANT [--context N] [--type-k TYPE] [--type-v TYPE]

  search, pull, ...  do one thing and end; --json gives the answer to programs, progress goes to stderr.
                     They end with 0 when it is done, 1 when it failed, 2 when the line makes no sense, 3 when the model
                     does not fit. HF_ENDPOINT, HF_TOKEN, HTTPS_PROXY and NO_PROXY are honored.`;

export function isCommand(word: string | undefined): boolean {
  return commandNames.includes(word as CommandName);
}

/** Throws `UsageError` with one sentence when the line makes no sense. */
export function parseCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  const [name, ...words] = positionals;
  if (values.help) throw new UsageError('');
  if (!isCommand(name)) throw new UsageError(`${name} is no command.`);
  if (words.length === 0 && name !== 'list' && name !== 'search') throw new UsageError(`${name}: name a model.`);
  if (words.length > 1 && name !== 'search') throw new UsageError(`${name} takes one model at a time.`);
  const sort = hubSortSchema.safeParse(values.sort ?? 'trending');
  if (!sort.success) throw new UsageError(`--sort ${values.sort}: there are ${hubSortSchema.options.join(', ')}.`);
  return {
    name: name as CommandName,
    words,
    json: values.json ?? false,
    dataFolder: resolve(values.data ?? join(os.homedir(), '.concertina')),
    revision: values.revision ?? 'main',
    sort: sort.data,
    context: contextOf(values),
  };
}

/** A path of this disk, or a model of the hub. */
export function targetOf(word: string): Target {
  const hub = /^([\w][\w.-]*\/[\w][\w.-]*)(?::([\w-]+)|\/(.+\.gguf))?$/i.exec(word);
  // what is there is meant, also when its path looks like a name of the hub
  const isPath = /^[.~/\\]|^[a-z]:[\\/]/i.test(word) || !word.includes('/') || existsSync(word);
  if (isPath || !hub?.[1]) return { kind: 'path', path: resolve(word) };
  return { kind: 'hub', repo: hub[1], quant: hub[2]?.toUpperCase() ?? null, file: hub[3] ?? null };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        data: { type: 'string' },
        json: { type: 'boolean' },
        revision: { type: 'string' },
        sort: { type: 'string' },
        context: { type: 'string' },
        'type-k': { type: 'string' },
        'type-v': { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function contextOf(values: { context?: string; 'type-k'?: string; 'type-v'?: string }): ContextSettings {
  const nCtx = values.context === undefined ? undefined : Number(values.context);
  const context = contextSettingsSchema.safeParse({ nCtx, typeK: values['type-k'], typeV: values['type-v'] });
  if (context.success) return context.data;
  const names: Record<string, string> = { nCtx: '--context', typeK: '--type-k', typeV: '--type-v' };
  const issue = context.error.issues[0];
  throw new UsageError(`${names[String(issue?.path[0])]}: ${issue?.message}.`);
}
