/** Runs one command over the same services as the window's. Answers go to stdout, everything else to stderr. */
import { join } from 'node:path';
import { ConcertinaError } from '../contract/errors';
import { type HubFile, repoSchema } from '../contract/hub';
import type { ProcessTransport } from '../services/engine/engineTransport';
import { ModelInspector } from '../services/engine/modelInspector';
import { quantOf } from '../services/hub/repoFiles';
import { downloadFolderOf, type Hub, setUpHub } from '../services/hub/setUpHub';
import { silentLogger } from '../services/lib/logger';
import { ModelLibrary } from '../services/models/modelLibrary';
import { ModelList } from '../services/models/modelList';
import { SettingsStore } from '../services/settings/settingsStore';
import { type Command, type Target, targetOf } from './commandLine';
import { fitText } from './estimate';
import { showProgress } from './progress';
import { fileText, infoText, listText, pageText } from './text';

export interface CommandParts {
  openInspector: () => ProcessTransport;
  embeddedModels: string;
  catalogue: string;
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
    ...{ dataFolder: command.dataFolder, catalogueFile: parts.catalogue, version: parts.version, keyring: null },
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
