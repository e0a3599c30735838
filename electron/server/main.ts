/** Headless mode: `npm run serve`, the same app in a browser of this machine; `npm run compare`, one comparison and no page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppInfo } from '../contract/contract';
import { engineArguments, inspectorArguments } from '../contract/engineContract';
import { ConcertinaError, stackOf } from '../contract/errors';
import { forkProcess, type ProcessTransport } from '../services/engine/engineTransport';
import { requireWritable } from '../services/lib/dataFolder';
import { createFileLogger, type Logger, logUnhandled } from '../services/lib/logger';
import { PowerWatch } from '../services/machine/power';
import { createServices, type Services } from '../services/services';
import { commandUsage, isCommand, parseCommand } from './commandLine';
import { runCommand } from './commands';
import { compareUsage, runCompare } from './compareCommand';
import { type EstimateQuestion, estimateText } from './estimate';
import { keptToken, lockFolder, parseServeOptions, type ServeOptions, UsageError, usage } from './options';
import { type RunningServer, type ServerOptions, startServer } from './server';

const appFolder = __dirname;
const root = join(appFolder, '..', '..');

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args[0] === 'compare') {
    process.exitCode = await runCompare(args.slice(1), (dataFolder) => openServices(dataFolder, false));
    return;
  }
  if (isCommand(args[0])) return endAfter(args);
  const options = parseServeOptions(args);
  if (options.estimate) return printEstimate(options.estimate, options.dataFolder);
  lockFolder(options.dataFolder);
  const page = join(appFolder, 'renderer');
  if (!existsSync(join(page, 'index.html')))
    throw new UsageError('The app is not built yet. Run `npm run build` first.');
  const log = logOf(options.dataFolder);
  const services = await openServices(options.dataFolder, process.env.CONCERTINA_FIRST_PROBE !== 'off', log);
  const server = await listen(options, { page, services, log });
  logUnhandled(log, (text) => console.error(`${text}. Concertina goes on; the log in ${options.dataFolder} has more.`));
  closeOnSignals(server, services, log);
  console.log(
    `Concertina runs at\n\n  ${server.url}\n\nChats and settings: ${options.dataFolder}\nStop it with Ctrl-C.`,
  );
  if (options.model) await selectModel(options.model, services);
  else services.engine.start();
}

/** One command, and the exit code that it ends with. */
async function endAfter(args: string[]): Promise<void> {
  const command = parseCommand(args);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  try {
    process.exitCode = await runCommand(command, {
      openInspector: () => openInspector(command.dataFolder),
      embeddedModels: join(root, 'assets', 'models'),
      catalog: join(root, 'assets', 'catalog', 'models.json'),
      version: appInfo().version,
      lock: () => lockFolder(command.dataFolder),
      requireWritable: () => requireWritable(command.dataFolder),
      print: (text) => console.log(text),
      note: (text) => void process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`),
      signal: interrupted.signal,
    });
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    if (process.stderr.isTTY) process.stderr.write('\n');
    console.error(inOneLine(error));
    process.exitCode = interrupted.signal.aborted ? 130 : 1;
  }
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
    bundles: appFolder,
    catalog: join(root, 'assets', 'catalog', 'models.json'),
    thirdPartyNotices: join(appFolder, 'THIRD-PARTY-NOTICES.txt'),
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

/** Needs no lock: it may run beside an app that uses the data folder. What llama.cpp logs would be noise here. */
async function printEstimate(question: EstimateQuestion, selfTestFolder: string): Promise<void> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  try {
    console.log(await estimateText(question, () => openInspector(selfTestFolder), silent));
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    console.error(inOneLine(error));
    process.exitCode = 1;
  }
}

function appInfo(): AppInfo {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, platform: process.platform, headless: true, runtime: `Node ${process.versions.node}`, notices: [] };
}

/** The usual port may be taken by another Concertina; a port that was asked for is not replaced silently. */
async function listen(
  options: ServeOptions & { portAsked: boolean },
  served: Pick<ServerOptions, 'page' | 'services' | 'log'>,
): Promise<RunningServer> {
  const { host, port } = options;
  const token = keptToken(options.dataFolder);
  try {
    return await startServer({ host, port, token, ...served });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
    if (options.portAsked) throw new UsageError(`Port ${port} is taken. Choose another one with --port.`);
    return startServer({ host, port: 0, token, ...served });
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
    } catch (error) {
      log.error(`the end failed: ${stackOf(error)}`);
      process.exit(1);
    }
    process.exit(0);
  }
  process.on('SIGINT', () => void close());
  process.on('SIGTERM', () => void close());
}

function inOneLine({ message, hint }: ConcertinaError): string {
  return `${message.replace(/\.$/, '')}. ${hint}`.trim();
}

main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    const help = process.argv[2] === 'compare' ? compareUsage : `${usage}\n\n${commandUsage}`;
    console.error(error.message ? `${error.message}\n\n${help}` : help);
    process.exit(error.message === '' ? 0 : 2);
  }
  console.error(error instanceof ConcertinaError ? inOneLine(error) : error);
  process.exit(1);
});
