/** Commands about models, over the same services as the window's: answers go to stdout, everything else to stderr. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiSettings } from '../contract/engineContract';
import { ConcertinaError } from '../contract/errors';
import { type HubFile, type HubSort, hubSortSchema, repoSchema } from '../contract/hub';
import type { ContextSettings } from '../contract/settings';
import type { Downloads } from '../services/downloads/downloads';
import { ModelInspector } from '../services/engine/modelInspector';
import { quantOf } from '../services/hub/api';
import { downloadFolderOf, type Hub, setUpHub } from '../services/hub/hubService';
import { requireWritable } from '../services/lib/dataFolder';
import { lockFolder } from '../services/lib/folderLock';
import { silentLogger } from '../services/lib/logger';
import { ModelList } from '../services/models/modelFiles';
import { ModelLibrary } from '../services/models/modelLibrary';
import { entryNamed, type Target, targetOf } from '../services/models/modelNames';
import { SettingsStore } from '../services/settings/settingsStore';
import { fileText, fitText, infoText, listText, pageText, progressText } from './answerTexts';
import {
  type CommandSpec,
  contextOf,
  contextOptions,
  dataFolderOf,
  dataOption,
  exitCodes,
  jsonOption,
  parseLine,
  type Status,
  UsageError,
} from './commandLine';
import type { Command, Surroundings } from './commandServices';
import { coreOptionsOf, defaultSlots } from './options';

const revisionOption = {
  revision: { type: 'string', value: 'COMMIT', about: 'of the model on the hub (main)' },
} as const;
const common = { ...jsonOption, ...dataOption } as const;

const specs = [
  {
    name: 'estimate',
    takes: 'FILE | OWNER/NAME[:QUANT]',
    about: 'shows what a model takes of the memory, and the longest contexts that fit now',
    details:
      "The figures come from the engine's own dry run; nothing is loaded, and of a model on the hub only the header is read.\nWith -- it is what `concertina serve` takes with the options of llama-server that follow. The exit code is 3 when the context does not fit.",
    options: { ...contextOptions, ...revisionOption, ...common },
    examples: [
      ['estimate model.gguf --context 32768', 'whether 32,768 tokens fit with the usual cache types'],
      ['estimate model.gguf -- --model-draft small.gguf', 'with another model that drafts for requests of the API'],
      ['estimate someone/Model-GGUF:Q4_K_M --type-k q8_0 --type-v turbo4', 'before it is downloaded'],
    ],
  },
  {
    name: 'inspect',
    takes: 'FILE | OWNER/NAME[:QUANT]',
    about: 'shows what is in the header of a model file, or which files a model on the hub has',
    details: '',
    options: { ...revisionOption, ...common },
    examples: [
      ['inspect model.gguf', 'layers, heads, trained length, license'],
      ['inspect someone/Model-GGUF', 'the files and quants of a model on the hub'],
    ],
  },
  {
    name: 'models search',
    takes: 'WORDS',
    about: 'searches the hub for GGUF models',
    details: '',
    options: {
      sort: { type: 'string', value: 'ORDER', values: hubSortSchema.options, about: hubSortSchema.options.join(', ') },
      ...common,
    },
    examples: [['models search qwen 3 --sort downloads', 'the models with these words, the most loaded first']],
  },
  {
    name: 'models pull',
    takes: 'OWNER/NAME[:QUANT | /FILE]',
    about: 'downloads a model from the hub and checks it',
    details: 'Without a quant it takes Q4_K_M. A download that was stopped goes on with the same command.',
    options: { ...revisionOption, ...common },
    examples: [
      ['models pull someone/Model-GGUF:Q6_K', 'one quant of a model'],
      ['run "Hello" --model someone/Model-GGUF:Q6_K', 'and a question to it'],
    ],
  },
  {
    name: 'models list',
    takes: '',
    about: 'lists the models on this machine',
    details: '',
    options: common,
    examples: [['models list --json', 'with ids and headers']],
  },
  {
    name: 'models rm',
    takes: 'MODEL',
    about: 'deletes a model that was downloaded; a file of your own only leaves the list',
    details: 'MODEL is a file name, the name it was pulled by, or an id; `concertina models list` shows them.',
    options: common,
    examples: [['models rm someone/Model-GGUF:Q6_K', 'what `models pull` downloaded']],
  },
] as const satisfies CommandSpec[];

type ModelCommandName = (typeof specs)[number]['name'];

export const modelCommands: Command[] = specs.map((spec) => ({
  ...spec,
  run: (args, surroundings) => runCommand(parseModelCommand(spec.name, args), surroundings),
}));

interface ModelCommand {
  name: ModelCommandName;
  words: string[];
  json: boolean;
  dataFolder: string;
  revision: string;
  sort: HubSort;
  context: ContextSettings;
  /** of `estimate`; null: without the API */
  api: ApiSettings | null;
}

/** Throws `UsageError` with one sentence when the line makes no sense. */
export function parseModelCommand(name: ModelCommandName, args: readonly string[]): ModelCommand {
  const spec: CommandSpec = specs.find((one) => one.name === name) ?? specs[0];
  type All = typeof contextOptions &
    typeof revisionOption &
    typeof common & { sort: { type: 'string'; about: string } };
  const end = name === 'estimate' ? args.indexOf('--') : -1;
  const own = end < 0 ? args : args.slice(0, end);
  const { values, positionals: words } = parseLine(spec as CommandSpec & { options: All }, own);
  if (name === 'models list' && words.length > 0) throw new UsageError(`${name} takes no name, and not ${words[0]}.`);
  if (words.length === 0 && spec.takes !== '') {
    throw new UsageError(name === 'models search' ? 'Name what to search for.' : `${name}: name a model.`);
  }
  if (words.length > 1 && name !== 'models search') throw new UsageError(`${name} takes one model at a time.`);
  const sort = hubSortSchema.safeParse(values.sort ?? 'trending');
  if (!sort.success) throw new UsageError(`--sort ${values.sort}: there are ${hubSortSchema.options.join(', ')}.`);
  return {
    ...{ name, words, json: values.json ?? false, dataFolder: dataFolderOf(values) },
    ...{ revision: values.revision ?? 'main', sort: sort.data, context: contextOf(values) },
    api: end < 0 ? null : { slots: defaultSlots, options: coreOptionsOf(args.slice(end + 1)) },
  };
}

type HubTarget = Extract<Target, { kind: 'hub' }>;

interface Tools {
  hub: Hub;
  inspector: ModelInspector;
  library: ModelLibrary;
  settings: SettingsStore;
}

async function runCommand(command: ModelCommand, around: Surroundings): Promise<number> {
  const { dataFolder } = command;
  const settings = new SettingsStore(join(dataFolder, 'settings.json'));
  const added = new ModelList(join(dataFolder, 'models.json'));
  await Promise.all([settings.load(), added.load()]);
  const inspector = new ModelInspector(() => around.openInspector(dataFolder), silentLogger);
  const library = new ModelLibrary({
    ...{ embeddedFolder: around.embeddedModels, added, inspector: { inspect: notHere } },
    downloadFolder: () => downloadFolderOf(dataFolder, settings.get().downloads),
  });
  const hub = await setUpHub({
    ...{ dataFolder, catalogFile: around.catalog, version: around.version, keyring: null },
    judge: inspector,
    downloadSettings: () => settings.get().downloads,
    onModel: (path) => library.adopt(path),
    log: silentLogger,
  });
  for (const notice of hub.notices) around.status.line(notice);
  try {
    return await run(command, around, { hub, inspector, library, settings });
  } finally {
    around.status.clear();
    await hub.close();
    await inspector.close();
  }
}

async function run(command: ModelCommand, around: Surroundings, tools: Tools): Promise<number> {
  const { json } = command;
  const give = (value: unknown, text: string) => around.print(json ? JSON.stringify(value, null, 2) : text);
  const target = targetOf(command.words[0] ?? '.');
  switch (command.name) {
    case 'models search': {
      const page = await tools.hub.service.search({ query: command.words.join(' '), sort: command.sort, cursor: null });
      give(page, pageText(page));
      return exitCodes.done;
    }
    case 'models list': {
      const models = await tools.library.list();
      give(models, listText(models));
      return exitCodes.done;
    }
    case 'models rm': {
      const { id, fileName, deleted } = await remove(command, tools);
      give({ id, fileName, deleted }, `${fileName} ${deleted ? 'is deleted' : 'is off the list; the file stays'}.`);
      return exitCodes.done;
    }
    case 'models pull':
      give(await pull(command, around, tools, hubTarget(target)), 'Done.');
      return exitCodes.done;
    case 'inspect': {
      if (target.kind === 'path') {
        const info = await tools.inspector.inspect(target.path);
        give(info, infoText(info));
      } else if (target.quant === null && target.file === null) {
        const page = await tools.hub.service.model(target.repo, command.revision);
        give(page, fileText(page));
      } else {
        const { info } = await hubFit(command, tools, target);
        give(info, infoText(info));
      }
      return exitCodes.done;
    }
    case 'estimate':
      return estimate(command, tools, target, give);
  }
}

/** What was downloaded is deleted; a file that was added stays where it is. */
async function remove({ dataFolder, words: [word = ''] }: ModelCommand, { library, settings }: Tools) {
  await lockFolder(dataFolder);
  const { id, fileName, source } = entryNamed(await library.list(), word);
  const deleted = source === 'downloaded';
  if (deleted) await library.delete(id, () => (path) => rm(path), false);
  else await library.remove(id);
  if (settings.get().modelId === id) await settings.update({ modelId: null });
  return { id, fileName, deleted };
}

async function pull(command: ModelCommand, { signal, status }: Surroundings, { hub }: Tools, target: HubTarget) {
  await lockFolder(command.dataFolder);
  const { revision, file } = await chooseFile(hub, target, command.revision);
  await hub.downloads.open({ only: { repo: target.repo, file: file.file } });
  const { id } = await hub.downloads.start({ repo: target.repo, revision, file: file.file });
  const stop = () => void hub.downloads.pause(id).catch(() => undefined);
  signal.addEventListener('abort', stop);
  const hide = showProgress(hub.downloads, id, status);
  try {
    const ended = await hub.downloads.settled(id);
    if (ended.state === 'done') return ended;
    if (ended.error) throw ConcertinaError.fromPayload(ended.error);
    throw new ConcertinaError('cancelled', 'The download was stopped.', 'The same command goes on with it.');
  } finally {
    signal.removeEventListener('abort', stop);
    hide();
  }
}

async function estimate(
  command: ModelCommand,
  tools: Tools,
  target: Target,
  give: (value: unknown, text: string) => void,
): Promise<number> {
  const path = target.kind === 'path' ? target.path : '';
  const context = await tools.library.withFiles(path, command.context);
  tools.inspector.api = command.api;
  if (target.kind === 'path') {
    const fit = await tools.inspector.fit({ path: target.path, context });
    give(fit, fitText({ path: target.path, context }, fit));
    return fit.fits ? exitCodes.done : exitCodes.doesNotFit;
  }
  const answer = await hubFit({ ...command, context }, tools, target);
  const text = fitText({ path: `${target.repo} ${target.quant ?? target.file ?? ''}`, context }, answer.fit);
  give(answer, text);
  return answer.grade === 'full' || answer.grade === 'partial' ? exitCodes.done : exitCodes.doesNotFit;
}

async function hubFit(command: ModelCommand, { hub }: Tools, target: HubTarget) {
  const { context, dataFolder, revision: asked } = command;
  // the header of the file is kept there
  requireWritable(dataFolder);
  const { revision, file } = await chooseFile(hub, target, asked);
  return hub.service.fit({ repo: target.repo, revision, file: file.file, context });
}

/** The file that the line names; without a name the only one, or the usual quant. */
async function chooseFile({ service }: Hub, { repo, quant, file }: HubTarget, asked: string) {
  const page = await service.model(repo, asked);
  const models = page.quants.flatMap(({ files }) => files).filter(({ kind }) => kind === 'model');
  const named = models.filter((one) => (file === null ? one.quant === (quant ?? one.quant) : one.file === file));
  const chosen: HubFile | undefined =
    named.length === 1 || quant !== null ? named[0] : named.find((one) => one.quant === 'Q4_K_M');
  if (chosen) return { revision: page.revision, file: chosen };
  const refused = page.refused.find((one) =>
    file === null ? quantOf(one.file) === (quant ?? quantOf(one.file)) : one.file === file,
  );
  // rejects with what is wrong with it, which says more than that it is not listed
  if (refused && named.length === 0) await service.file(repo, page.revision, refused.file);
  const names = models.map((one) => `${repo}${one.quant ? `:${one.quant}` : `/${one.file}`}`);
  const hint = names.length > 0 ? `There are: ${[...new Set(names)].join(', ')}` : 'It has no GGUF model.';
  throw new ConcertinaError('not-found', `${repo} has no file of this name or quant.`, hint);
}

function hubTarget(target: Target): HubTarget {
  if (target.kind === 'hub' && repoSchema.safeParse(target.repo).success) return target;
  throw new ConcertinaError(
    'bad-request',
    'A model of the hub is named OWNER/NAME, OWNER/NAME:QUANT or OWNER/NAME/FILE.',
  );
}

/** A list needs no engine. */
function notHere(): Promise<never> {
  return Promise.reject(new ConcertinaError('engine-unavailable', 'The engine was not started.'));
}

// How far a download is, on stderr: one line that changes on a terminal, a line now and then elsewhere.

const everyMs = 5000;

/** Until the returned function is called. */
function showProgress(downloads: Downloads, id: string, status: Status, terminal = process.stderr.isTTY): () => void {
  let lastAt = 0;
  let lastState = '';
  return downloads.changed.on((list) => {
    const one = list.find((download) => download.id === id);
    if (!one) return;
    const due = terminal || one.state !== lastState || Date.now() - lastAt >= everyMs;
    if (!due) return;
    lastAt = Date.now();
    lastState = one.state;
    status.show(progressText(one));
  });
}
