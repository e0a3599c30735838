/** The command line `concertina`: headless mode, the same app in a browser of this machine, and commands without a page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppInfo } from '../contract/contract';
import { engineArguments, inspectorArguments } from '../contract/engineContract';
import { ConcertinaError, stackOf, toErrorPayload } from '../contract/errors';
import { troubleOf } from '../contract/lib/systemErrors';
import { keptKey } from '../services/api/access';
import { createGateway, type Gateway } from '../services/api/gateway';
import type { Served } from '../services/api/localApi';
import { forkProcess, type ProcessTransport } from '../services/engine/engineTransport';
import { lockFolder } from '../services/lib/folderLock';
import { createFileLogger, type Logger, logUnhandled } from '../services/lib/logger';
import { PowerWatch } from '../services/machine/power';
import { createServices, type Services } from '../services/services';
import { askCommands } from './askCommands';
import { createStatus, exitCodeOf, exitCodes, findCommand, helpFor, inOneLine, UsageError } from './commandLine';
import type { Command, Surroundings } from './commandServices';
import { modelCommands } from './commands';
import { compareCommand } from './compareCommand';
import { completionCommand } from './completion';
import { launchCommand } from './launchCommand';
import { endWithStdin, keyFileOf, parseServeOptions, type ServeOptions, serveSpec } from './options';
import { type RunningServer, type ServerOptions, startServer } from './server';
import { workerCommand } from './workerCommand';

const appFolder = __dirname;
const root = join(appFolder, '..', '..');

const serveCommand: Command = { ...serveSpec, run: serve };
const lend = workerCommand(join(appFolder, 'engine.cjs'));
const others = [...askCommands, serveCommand, launchCommand, compareCommand, lend, ...modelCommands];
const commands = [...others, completionCommand(others)];

async function main(args: string[]): Promise<void> {
  if (args[0] === '--version') return console.log(appInfo().version);
  const help = helpFor(commands, args);
  if (help !== null) return console.log(help);
  const { command, rest } = findCommand(commands, args);
  const interrupted = new AbortController();
  const status = createStatus();
  const surroundings: Surroundings = {
    ...{ openInspector, openServices: (dataFolder) => openServices(dataFolder, false), status },
    program: __filename,
    embeddedModels: join(root, 'assets', 'models'),
    catalog: join(root, 'assets', 'catalog', 'models.json'),
    version: appInfo().version,
    print: (text) => console.log(text),
    signal: interrupted.signal,
  };
  // the page is served until a signal closes it in its own way
  if (command !== serveCommand) abortOnSignals(interrupted);
  // nobody reads the rest: `concertina run ... | head -1`
  process.stdout.on('error', () => interrupted.abort());
  try {
    process.exitCode = await command.run(rest, surroundings);
  } catch (error) {
    status.clear();
    if (error instanceof UsageError) error.command ||= command.name;
    if (!(error instanceof ConcertinaError)) throw error;
    console.error(inOneLine(error));
    process.exitCode = interrupted.signal.aborted ? exitCodes.canceled : exitCodeOf(error);
  }
}

/** Windows tells a window of the command line that is closed as SIGHUP. Elsewhere a program that was told to outlive it stays. */
function endSignals(): NodeJS.Signals[] {
  return process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

function abortOnSignals(interrupted: AbortController): void {
  function onSignal(): void {
    // a second Ctrl-C does not wait
    if (interrupted.signal.aborted) process.exit(exitCodes.canceled);
    interrupted.abort();
  }
  for (const name of endSignals()) process.on(name, onSignal);
}

async function serve(args: readonly string[]): Promise<number> {
  const options = parseServeOptions(args);
  await lockFolder(options.dataFolder);
  const page = join(appFolder, 'renderer');
  if (!existsSync(join(page, 'index.html')))
    throw new UsageError('The app is not built yet. Run `npm run build` first.');
  const log = logOf(options.dataFolder);
  const services = await openServices(options.dataFolder, process.env.CONCERTINA_FIRST_PROBE !== 'off', log);
  const server = await listen(options, { page, services, log, gateway: gatewayOf(options, services, log) });
  logUnhandled(log, (text) => console.error(`${text}. Concertina goes on; the log in ${options.dataFolder} has more.`));
  closeOnSignals(server, services, log);
  if (server.url) console.log(`Concertina runs at\n\n  ${server.url}\n`);
  console.log(`Chats and settings: ${options.dataFolder}\nStop it with Ctrl-C.`);
  services.engine.offerApi({ slots: options.slots, options: options.coreOptions });
  services.api.restAfter(options.idleMs);
  services.api.oneModel = options.oneModel;
  services.settings.override(options.settings);
  services.localApi.serve(servedOf(options, server));
  if (options.model) await selectModel(options.model, services);
  else services.engine.start();
  console.log(`API ${server.api}${options.key === 'kept' ? ` (key: ${keyFileOf(options.dataFolder)})` : ''}`);
  return exitCodes.done;
}

function servedOf({ key, dataFolder, slots, cors, oneModel, idleMs }: ServeOptions, { api }: RunningServer): Served {
  return {
    ...{ address: api, needsKey: key !== null, keyFile: key === 'kept' ? keyFileOf(dataFolder) : null },
    rules: { slots, origins: cors, loadOnRequest: !oneModel, idleMinutes: idleMs === null ? null : idleMs / 60_000 },
  };
}

/** The key of the page is that of the API too, unless the line says otherwise. */
function gatewayOf({ hosts, cors, key, dataFolder }: ServeOptions, services: Services, log: Logger): Gateway {
  const given = key === 'kept' ? keptKey(keyFileOf(dataFolder)) : (key?.given ?? null);
  return createGateway({ service: services.api, hosts, cors, log, key: given });
}

function openInspector(selfTestFolder: string): ProcessTransport {
  return forkProcess(join(appFolder, 'engine.cjs'), inspectorArguments(selfTestFolder));
}

function logOf(dataFolder: string): Logger {
  return createFileLogger(join(dataFolder, 'logs', 'concertina.log'));
}

function openServices(dataFolder: string, firstProbe: boolean, log = logOf(dataFolder)): Promise<Services> {
  return createServices({
    dataFolder,
    embeddedModels: join(root, 'assets', 'models'),
    calibrationText: join(root, 'assets', 'calibration', 'text.txt'),
    openEngine: () => forkProcess(join(appFolder, 'engine.cjs'), engineArguments(dataFolder)),
    openInspector: () => openInspector(dataFolder),
    openDocuments: () => forkProcess(join(appFolder, 'documents.cjs')),
    openTools: () => forkProcess(join(appFolder, 'tools.cjs')),
    bundles: appFolder,
    catalog: join(root, 'assets', 'catalog', 'models.json'),
    thirdPartyNotices: join(appFolder, 'THIRD-PARTY-NOTICES.txt'),
    changelog: join(appFolder, 'CHANGELOG.md'),
    keyring: null,
    processes: () => [process.pid],
    power: new PowerWatch(null),
    firstProbe,
    info: appInfo(),
    desktop: null,
    log,
    streamAsEvents: true,
  });
}

function appInfo(): AppInfo {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, platform: process.platform, headless: true, runtime: `Node ${process.versions.node}`, notices: [] };
}

/** The usual port may be taken by another Concertina; a port that was asked for is not replaced silently. */
async function listen(
  options: ServeOptions & { portAsked: boolean },
  served: Pick<ServerOptions, 'page' | 'services' | 'log' | 'gateway'>,
): Promise<RunningServer> {
  const { hosts, port } = options;
  const token = keptKey(keyFileOf(options.dataFolder));
  try {
    return await startServer({ hosts, port, token, ...served });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'EACCES')
      throw new UsageError(`The system does not allow port ${port}. Choose another one with --port.`);
    if (code !== 'EADDRINUSE') throw error;
    if (options.portAsked) throw new UsageError(`Port ${port} is taken. Choose another one with --port.`);
    return startServer({ hosts, port: 0, token, ...served });
  }
}

async function selectModel(path: string, services: Services): Promise<void> {
  services.engine.startEmpty();
  const { added, refused } = await services.models.add([path]);
  for (const { name, error } of refused) console.error(`${name}: ${error.message} ${error.hint}`);
  if (added[0]) await services.engine.select(added[0].id);
  else await services.engine.reload();
}

function closeOnSignals(server: RunningServer, services: Services, log: Logger): void {
  let closing = false;
  async function close(): Promise<void> {
    // a second Ctrl-C does not wait
    if (closing) process.exit(1);
    closing = true;
    try {
      await server.close();
      await services.close();
      const lost = services.unsaved.status();
      if (lost) {
        console.error(`${lost.message} It was lost with the end of Concertina.`);
        process.exit(exitCodes.failed);
      }
    } catch (error) {
      log.error(`the end failed: ${stackOf(error)}`);
      process.exit(1);
    }
    process.exit(0);
  }
  for (const name of endSignals()) process.on(name, () => void close());
  if (process.env[endWithStdin]) process.stdin.on('close', () => void close()).resume();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof UsageError) {
    const help = error.command
      ? `concertina ${error.command} --help explains the command`
      : 'concertina --help lists the commands';
    console.error(`${error.message}\n${help}.`);
    process.exit(exitCodes.usage);
  }
  const known = error instanceof ConcertinaError || troubleOf(error) !== null;
  console.error(known ? inOneLine(ConcertinaError.fromPayload(toErrorPayload(error))) : error);
  process.exit(exitCodes.failed);
});
