/** Headless mode: `npm run serve`, the same app in a browser of this machine; `npm run compare`, one comparison and no page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { forkEngine } from '../main/services/forkTransport';
import { createFileLogger } from '../main/services/logger';
import { PowerWatch } from '../main/services/power';
import { createServices, type Services } from '../main/services/services';
import type { AppInfo } from '../shared/contract';
import { engineArguments } from '../shared/engineArguments';
import { ConcertinaError } from '../shared/errors';
import { commandUsage, isCommand, parseCommand } from './commands/line';
import { runCommand } from './commands/run';
import { runCompare } from './compare';
import { compareUsage } from './compareOptions';
import { type EstimateQuestion, estimateText } from './estimate';
import { keptToken } from './key';
import { lockFolder } from './lock';
import { parseServeOptions, type ServeOptions, UsageError, usage } from './options';
import { type RunningServer, startServer } from './server';

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
  const page = join(appFolder, 'renderer');
  if (!existsSync(join(page, 'index.html')))
    throw new UsageError('The app is not built yet. Run `npm run build` first.');
  lockFolder(options.dataFolder);
  const services = await openServices(options.dataFolder, process.env.CONCERTINA_FIRST_PROBE !== 'off');
  const server = await listen(options, page, services);
  closeOnSignals(server, services);
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
      openEngine: () => forkEngine(join(appFolder, 'engine.cjs'), engineArguments(command.dataFolder)),
      embeddedModels: join(root, 'assets', 'models'),
      catalogue: join(root, 'assets', 'catalogue', 'models.json'),
      version: appInfo().version,
      lock: () => lockFolder(command.dataFolder),
      print: (text) => console.log(text),
      note: (text) => void process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`),
      signal: interrupted.signal,
    });
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    if (process.stderr.isTTY) process.stderr.write('\n');
    console.error(`${error.message.replace(/\.$/, '')}. ${error.hint}`.trim());
    process.exitCode = interrupted.signal.aborted ? 130 : 1;
  }
}

function openServices(dataFolder: string, firstProbe: boolean): Promise<Services> {
  return createServices({
    dataFolder,
    embeddedModels: join(root, 'assets', 'models'),
    calibrationText: join(root, 'assets', 'calibration', 'text.txt'),
    openEngine: () => forkEngine(join(appFolder, 'engine.cjs'), engineArguments(dataFolder)),
    documentWorker: join(appFolder, 'documents.cjs'),
    catalogue: join(root, 'assets', 'catalogue', 'models.json'),
    keyring: null,
    processes: () => [process.pid],
    power: new PowerWatch(null),
    firstProbe,
    info: appInfo(),
    desktop: null,
    log: createFileLogger(join(dataFolder, 'logs', 'concertina.log')),
    streamAsEvents: true,
  });
}

/** Needs no lock: it may run beside an app that uses the data folder. What llama.cpp logs would be noise here. */
async function printEstimate(question: EstimateQuestion, selfTestFolder: string): Promise<void> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const openEngine = () => forkEngine(join(appFolder, 'engine.cjs'), engineArguments(selfTestFolder));
  try {
    console.log(await estimateText(question, openEngine, silent));
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    console.error(`${error.message.replace(/\.$/, '')}. ${error.hint}`);
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
  page: string,
  services: Services,
): Promise<RunningServer> {
  const { host, port } = options;
  const token = keptToken(options.dataFolder);
  try {
    return await startServer({ host, port, page, token, services });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
    if (options.portAsked) throw new UsageError(`Port ${port} is taken. Choose another one with --port.`);
    return startServer({ host, port: 0, page, token, services });
  }
}

async function selectModel(path: string, services: Services): Promise<void> {
  services.engine.startEmpty();
  const { added, refused } = await services.models.add([path]);
  for (const { name, error } of refused) console.error(`${name}: ${error.message} ${error.hint}`);
  if (added[0]) await services.engine.select(added[0].id);
  else await services.engine.reload();
}

function closeOnSignals(server: RunningServer, services: Services): void {
  let closing = false;
  async function close(): Promise<void> {
    // a second Ctrl-C does not wait
    if (closing) process.exit(1);
    closing = true;
    await server.close();
    await services.close();
    process.exit(0);
  }
  process.on('SIGINT', () => void close());
  process.on('SIGTERM', () => void close());
}

main().catch((error: unknown) => {
  const help = process.argv[2] === 'compare' ? compareUsage : `${usage}\n\n${commandUsage}`;
  if (error instanceof UsageError) console.error(error.message ? `${error.message}\n\n${help}` : help);
  else console.error(error);
  if (!(error instanceof UsageError)) process.exit(1);
  process.exit(error.message === '' ? 0 : 2);
});
