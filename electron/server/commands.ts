/** Runs one command over the same services as the window's. Answers go to stdout, everything else to stderr. */

import { join } from 'node:path';
import { ConcertinaError, sizeText } from '../contract/errors';
import { type Download, type HubFile, type HubModelPage, type HubPage, repoSchema } from '../contract/hub';
import type { ModelEntry, ModelInfo } from '../contract/models';
import type { Downloads } from '../services/downloads/downloads';
import type { ProcessTransport } from '../services/engine/engineTransport';
import { ModelInspector } from '../services/engine/modelInspector';
import { quantOf } from '../services/hub/api';
import { downloadFolderOf, type Hub, setUpHub } from '../services/hub/hubService';
import { silentLogger } from '../services/lib/logger';
import { ModelList } from '../services/models/modelFiles';
import { ModelLibrary } from '../services/models/modelLibrary';
import { SettingsStore } from '../services/settings/settingsStore';
import { type Command, type Target, targetOf } from './commandLine';
import { fitText, table } from './estimate';

interface CommandParts {
  openInspector: () => ProcessTransport;
  embeddedModels: string;
  catalog: string;
  version: string;
  /** takes the data folder for this process; throws where another one has it */
  lock: () => void;
  /** throws where the data folder cannot be written */
  requireWritable: () => void;
  print: (text: string) => void;
  /** of stderr */
  note: (text: string) => void;
  /** aborted by Ctrl-C */
  signal: AbortSignal;
}

type HubTarget = Extract<Target, { kind: 'hub' }>;

/** Exit code: 0 done, 3 does not fit. Rejects with a coded error for all else. */
export async function runCommand(command: Command, parts: CommandParts): Promise<number> {
  const settings = new SettingsStore(join(command.dataFolder, 'settings.json'));
  const added = new ModelList(join(command.dataFolder, 'models.json'));
  await Promise.all([settings.load(), added.load()]);
  const inspector = new ModelInspector(parts.openInspector, silentLogger);
  const folder = () => downloadFolderOf(command.dataFolder, settings.get().downloads);
  const library = new ModelLibrary({
    ...{ embeddedFolder: parts.embeddedModels, added, downloadFolder: folder },
    inspector: { inspect: notHere },
  });
  const hub = await setUpHub({
    ...{ dataFolder: command.dataFolder, catalogFile: parts.catalog, version: parts.version, keyring: null },
    judge: inspector,
    downloadSettings: () => settings.get().downloads,
    onModel: (path) => library.adopt(path),
    log: silentLogger,
  });
  for (const notice of hub.notices) parts.note(notice);
  try {
    return await run(command, parts, { hub, inspector, library });
  } finally {
    await hub.close();
    await inspector.close();
  }
}

interface Tools {
  hub: Hub;
  inspector: ModelInspector;
  library: ModelLibrary;
}

async function run(command: Command, parts: CommandParts, tools: Tools): Promise<number> {
  const { json } = command;
  const give = (value: unknown, text: string) => parts.print(json ? JSON.stringify(value, null, 2) : text);
  const target = targetOf(command.words[0] ?? '.');
  switch (command.name) {
    case 'search': {
      const page = await tools.hub.service.search({ query: command.words.join(' '), sort: command.sort, cursor: null });
      give(page, pageText(page));
      return 0;
    }
    case 'list': {
      const models = await tools.library.list();
      give(models, listText(models));
      return 0;
    }
    case 'pull':
      give(await pull(command, parts, tools, hubTarget(target)), 'Done.');
      return 0;
    case 'inspect': {
      if (target.kind === 'path') {
        const info = await tools.inspector.inspect(target.path);
        give(info, infoText(info));
      } else if (target.quant === null && target.file === null) {
        const page = await tools.hub.service.model(target.repo, command.revision);
        give(page, fileText(page));
      } else {
        const { info } = await hubFit(command, parts, tools, target);
        give(info, infoText(info));
      }
      return 0;
    }
    case 'estimate':
      return estimate(command, parts, tools, target, give);
  }
}

async function pull(command: Command, parts: CommandParts, { hub }: Tools, target: HubTarget) {
  parts.lock();
  const { revision, file } = await chooseFile(hub, target, command.revision);
  await hub.downloads.open({ only: { repo: target.repo, file: file.file } });
  const { id } = await hub.downloads.start({ repo: target.repo, revision, file: file.file });
  const stop = () => void hub.downloads.pause(id).catch(() => undefined);
  parts.signal.addEventListener('abort', stop);
  const hide = showProgress(hub.downloads, id, parts.note);
  try {
    const ended = await hub.downloads.settled(id);
    if (ended.state === 'done') return ended;
    if (ended.error) throw ConcertinaError.fromPayload(ended.error);
    throw new ConcertinaError('cancelled', 'The download was stopped.', 'The same command goes on with it.');
  } finally {
    parts.signal.removeEventListener('abort', stop);
    hide();
  }
}

async function estimate(
  command: Command,
  parts: CommandParts,
  tools: Tools,
  target: Target,
  give: (value: unknown, text: string) => void,
): Promise<number> {
  const { context } = command;
  if (target.kind === 'path') {
    const fit = await tools.inspector.fit({ path: target.path, context });
    give(fit, fitText({ path: target.path, context }, fit));
    return fit.fits ? 0 : 3;
  }
  const answer = await hubFit(command, parts, tools, target);
  const text = fitText({ path: `${target.repo} ${target.quant ?? target.file ?? ''}`, context }, answer.fit);
  give(answer, text);
  return answer.grade === 'full' || answer.grade === 'partial' ? 0 : 3;
}

async function hubFit(command: Command, parts: CommandParts, { hub }: Tools, target: HubTarget) {
  // the header of the file is kept there
  parts.requireWritable();
  const { context, revision: asked } = command;
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
function showProgress(
  downloads: Downloads,
  id: string,
  note: (text: string) => void,
  terminal = process.stderr.isTTY,
): () => void {
  let lastAt = 0;
  let lastState = '';
  return downloads.changed.on((list) => {
    const one = list.find((download) => download.id === id);
    if (!one) return;
    const due = terminal || one.state !== lastState || Date.now() - lastAt >= everyMs;
    if (!due) return;
    lastAt = Date.now();
    lastState = one.state;
    note(progressText(one));
  });
}

function progressText({ title, state, done, bytes, speed, secondsLeft, error }: Download): string {
  const share = bytes === 0 ? 100 : Math.floor((done / bytes) * 100);
  const parts = [`${title}: ${share} % of ${sizeText(bytes)}`];
  if (state === 'active') {
    if (speed > 0) parts.push(`${sizeText(speed)}/s`);
    if (secondsLeft !== null) parts.push(`${timeText(secondsLeft)} left`);
  } else parts.push(state);
  if (error) parts.push(error.message);
  return parts.join(', ');
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// Answers of the commands for people.

function pageText({ models, next }: HubPage): string {
  if (models.length === 0) return 'No GGUF model has these words in its name.';
  const rows = models.map(({ repo, downloads, likes, updatedAt, license, gated }) => [
    repo,
    `${downloads} downloads`,
    `${likes} likes`,
    updatedAt?.slice(0, 10) ?? '',
    license ?? '',
    gated === 'open' ? '' : 'gated',
  ]);
  return [table(rows), ...(next === null ? [] : ['  There are more: use more words.'])].join('\n');
}

function fileText({ repo, license, gated, architecture, trained, quants, refused }: HubModelPage): string {
  const facts = [
    architecture,
    trained ? `trained for ${trained} tokens` : null,
    license,
    gated === 'open' ? null : 'gated',
  ];
  const rows = quants.flatMap(({ quant, files }) =>
    files.map(({ file, bytes, parts, kind }) => [
      quant ?? '',
      sizeText(bytes),
      file,
      ...[parts.length > 1 ? `${parts.length} parts` : '', kind === 'model' ? '' : kind],
    ]),
  );
  const leftOut = refused.map(({ file, why }) => `  left out: ${file}. ${why}`);
  return [[repo, ...facts.filter(Boolean)].join(', '), table(rows), ...leftOut].join('\n');
}

function listText(models: readonly ModelEntry[]): string {
  const rows = models.map(({ fileName, fileBytes, location, problem }) => [
    fileName,
    sizeText(fileBytes),
    location,
    problem ?? '',
  ]);
  return table(rows);
}

function infoText(info: ModelInfo): string {
  const rows = Object.entries({
    name: info.name,
    architecture: info.architecture,
    parameters: info.parameters,
    quantization: info.quantization,
    size: sizeText(info.fileBytes),
    layers: info.layers,
    'attention heads': `${info.headCount}, for K and V ${info.headCountKv}`,
    'head size': `K ${info.headDimK}, V ${info.headDimV}`,
    'trained for': info.nCtxTrain > 0 ? `${info.nCtxTrain} tokens` : 'not stated',
    'chat template': info.hasChatTemplate ? 'yes' : 'no',
    license: info.license ?? 'not stated',
  });
  return table(rows.map(([name, value]) => [name, String(value)]));
}
