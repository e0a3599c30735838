/**
 * What a page that was taken over could send: any operation with any input, against the handlers of the app with a data folder, an
 * engine process and a process for documents of its own. Each is answered with a value or with a coded error.
 */
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type OperationName, operations } from '@/electron/contract/contract';
import { engineArguments, inspectorArguments } from '@/electron/contract/engineContract';
import type { Envelope } from '@/electron/contract/rpc';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { PowerWatch } from '@/electron/services/machine/power';
import { createServices, type Services } from '@/electron/services/services';
import { pick } from './random.mjs';
import type { Attack, Outcome, Random } from './target';

interface Case {
  name: string;
  /** in JSON, with `{"$": name}` for what JSON has not */
  input: unknown;
}

const bundles = path.resolve('build', 'app');
/** They measure the machine, look through the disk, load a model or have it write, for seconds to minutes; that says nothing about inputs. */
const slow = new Set<string>([
  'machine.probe',
  'machine.run',
  'compare.start',
  'compare.rerun',
  'compare.check',
  'models.scan',
  'engine.reload',
  'briefs.make',
  'engine.restart',
]);
/** what JSON cannot say and a structured clone can */
const odd: Record<string, () => unknown> = {
  undefined: () => undefined,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  '-0': () => -0,
  bigint: () => 2n ** 70n,
  date: () => new Date(Number.NaN),
  map: () => new Map([['__proto__', 1]]),
  bytes: () => new Uint8Array(1000),
  ring: () => {
    const ring: Record<string, unknown> = {};
    ring.self = ring;
    return ring;
  },
};

export async function ipc(folder: string): Promise<Attack<Case>> {
  const data = path.join(folder, 'data');
  fs.cpSync(path.resolve('test', 'fixtures', 'data-concertina-tiny'), data, { recursive: true });
  const ids = fs.readdirSync(path.join(data, 'chats')).map((name) => name.replace(/\..*/, ''));
  const services = await servicesIn(data);
  // the smallest, which is loaded without a measurement
  await services.call('settings.update', { context: { nCtx: 512, typeK: 'f16', typeV: 'f16', threads: 1 } });
  services.engine.start();
  await services.call('engine.plan', {});
  const before = fs.readdirSync(folder).sort();
  let engineStarts = 0;
  let slowest = { name: '', ms: 0 };
  services.host.ready.on(() => engineStarts++);

  async function run({ name, input }: Case): Promise<Outcome> {
    const started = performance.now();
    const envelope: Envelope = await services.call(name as OperationName, revived(input));
    const ms = performance.now() - started;
    if (ms > slowest.ms) slowest = { name, ms };
    if (envelope.ok) return { served: true };
    const { code, message } = envelope.error;
    return code === 'internal' ? { problem: `${name}: ${message}` } : { refused: code };
  }

  return {
    atOnce: 5,
    make: (random) => someCall(random, ids),
    run,
    async isWell() {
      if (Object.keys(Object.prototype).length > 0) throw new Error('the prototype of all objects was changed');
      if (engineStarts > 1) throw new Error('the engine process ended');
      const now = fs.readdirSync(folder).sort();
      if (now.join() !== before.join()) throw new Error(`files beside the data folder: ${now}`);
      const info = await services.call('app.info', undefined);
      if (!info.ok) throw new Error('it does not say what it is any more');
    },
    note: () => `slowest operation ${slowest.name}`,
    close: () => services.close(),
  };
}

function servicesIn(dataFolder: string): Promise<Services> {
  const program = (name: string) => path.join(bundles, `${name}.cjs`);
  return createServices({
    ...{
      dataFolder,
      bundles,
      keyring: null,
      desktop: null,
      log: silentLogger,
      streamAsEvents: true,
      firstProbe: false,
    },
    embeddedModels: path.resolve('test', 'fixtures', 'models'),
    calibrationText: path.resolve('assets', 'calibration', 'text.txt'),
    openEngine: () => forkProcess(program('engine'), engineArguments(dataFolder)),
    openInspector: () => forkProcess(program('engine'), inspectorArguments(dataFolder)),
    openDocuments: () => forkProcess(program('documents')),
    openTools: () => forkProcess(program('tools')),
    catalog: path.resolve('assets', 'catalog', 'models.json'),
    thirdPartyNotices: path.join(bundles, 'THIRD-PARTY-NOTICES.txt'),
    changelog: path.resolve('CHANGELOG.md'),
    processes: () => [process.pid],
    power: new PowerWatch(null),
    info: { version: '0', platform: process.platform, headless: true, runtime: '', notices: [] },
  });
}

// Inputs: what the contract says, with something wrong in it.

interface Shape {
  type?: string | string[];
  properties?: Record<string, Shape>;
  items?: Shape;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  oneOf?: Shape[];
  allOf?: Shape[];
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  $ref?: string;
  $defs?: Record<string, Shape>;
}

const operationNames = Object.keys(operations) as OperationName[];
const shapes = new Map(
  operationNames.map((name) => [
    name,
    z.toJSONSchema(operations[name].input, { io: 'input', unrepresentable: 'any' }) as Shape,
  ]),
);

const texts = [
  ...['', 'a', '../../settings', '__proto__', 'constructor', '/etc/passwd', '\0', '\ud800', '\u202e', 'x'.repeat(5000)],
  ...[
    '{"a":1}',
    'https://example.com/',
    'file:///etc/passwd',
    'NaN',
    '%s%n',
    'a/b',
    'Infinity',
    '-1',
    '👩‍👩‍👧'.repeat(50),
  ],
];
const numbers = [0, 1, -1, 0.5, 2, 100, 2 ** 31, 2 ** 53, 1e308, -1e308, 8192];

function someCall(random: Random, ids: readonly string[]): Case {
  const known = operationNames.filter((name) => !slow.has(name));
  const name: string = random(40) ? pick(random, known) : pick(random, texts);
  const shape = shapes.get(name as OperationName);
  const input = shape && random(12) ? made(shape, shape, random, ids, 0) : anything(random);
  return { name, input: random(3) ? input : spoiled(random, input) };
}

function made(shape: Shape, root: Shape, random: Random, ids: readonly string[], depth: number): unknown {
  const inner = (one: Shape) => made(one, root, random, ids, depth + 1);
  if (depth > 8) return null;
  if (shape.$ref !== undefined) return inner(root.$defs?.[shape.$ref.replace('#/$defs/', '')] ?? {});
  if (shape.const !== undefined) return shape.const;
  if (shape.enum) return pick(random, shape.enum);
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices) return inner(pick(random, choices));
  if (shape.allOf) return Object.assign({}, ...shape.allOf.map(inner));
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  if (type === 'object' || shape.properties) {
    const fields = Object.entries(shape.properties ?? {}).filter(([key]) => shape.required?.includes(key) || random(2));
    return Object.fromEntries(fields.map(([key, one]) => [key, inner(one)]));
  }
  if (type === 'array') return Array.from({ length: random(3) }, () => inner(shape.items ?? {}));
  if (type === 'string')
    return random(2) && ids.length > 0
      ? pick(random, ids)
      : String(pick(random, texts)).slice(0, shape.maxLength ?? 5000);
  if (type === 'integer' || type === 'number') {
    const { minimum = 0, maximum = 10_000 } = shape;
    return random(3)
      ? Math.floor(minimum + random(Math.max(1, Math.min(maximum - minimum, 10_000))))
      : pick(random, numbers);
  }
  if (type === 'boolean') return random(2) === 1;
  return type === 'null' ? null : anything(random);
}

function anything(random: Random): unknown {
  const kind = random(6);
  if (kind === 0) return pick(random, texts);
  if (kind === 1) return pick(random, numbers);
  if (kind === 2) return { $: pick(random, Object.keys(odd)) };
  if (kind === 3) return Array.from({ length: random(4) }, () => pick(random, texts));
  return kind === 4 ? { [pick(random, texts) as string]: pick(random, numbers) } : null;
}

/** Something else in one place. */
function spoiled(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return anything(random);
  const key: string = pick(random, Object.keys(value));
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = random(2) ? spoiled(random, copy[key]) : anything(random);
  if (random(8) === 0) copy[pick(random, texts) as string] = anything(random);
  return copy;
}

function revived(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const name = (value as { $?: unknown }).$;
  if (typeof name === 'string' && Object.hasOwn(odd, name)) return odd[name]?.();
  if (Array.isArray(value)) return Array.from(value, revived);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revived(inner)]));
}
