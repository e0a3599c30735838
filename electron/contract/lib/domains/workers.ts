/**
 * Other machines that lend their devices to models here, by upstream's RPC back end: `concertina worker` there, a list of addresses here.
 * The first bytes of a connection say what it is for: RPC, or a conversation in lines that begins with a greeting.
 */
import { z } from 'zod';
import { errorPayloadSchema } from '../../errors';
import { nothing, operation } from '../../limits';
import type { EventMap, OperationMap } from '../../rpc';

/** of upstream's rpc-server */
export const usualWorkerPort = 50_052;

/** What a worker serves, by its number in the list. Bytes. */
const servedDeviceSchema = z.object({
  name: z.string(),
  /** it computes what the CPU of the same build does */
  cpu: z.boolean(),
  free: z.number(),
  total: z.number(),
});
export type ServedDevice = z.infer<typeof servedDeviceSchema>;

/** A device as the engine is told of it. `name`: for people, of the worker and its device; `free`: before a model was loaded to it */
export const workerDeviceSchema = servedDeviceSchema.extend({
  /** "host:port" */
  endpoint: z.string(),
  device: z.number().int().min(0),
});
export type WorkerDevice = z.infer<typeof workerDeviceSchema>;

/** What a load or an estimate may use beside this machine; `missing`: what it goes without, as sentences. */
export const workersField = {
  workers: z.array(workerDeviceSchema).optional(),
  missing: z.array(z.string()).optional(),
};
export interface LoadedWorkers {
  workers: WorkerDevice[];
  missing: string[];
}

// What is said in lines. A worker ends the conversation after anything else than this.

/** `build`: a hash of what both sides must have in common (native/addon/workers) */
export function greetingOf(build: string): string {
  return `concertina-worker 1 ${build}`;
}

/** null: it is none. A greeting of another version of these lines is one of another build. */
export function buildGreeted(line: string): string | null {
  return /^concertina-worker \d{1,4} ([0-9a-f]{1,64})$/.exec(line)?.[1] ?? null;
}

/** The line that answers the greeting, in JSON. */
export const greetedSchema = z.object({
  build: z.string().max(64),
  /** of the app */
  version: z.string().max(64),
  /** a model's layers are there now, of whatever client */
  inUse: z.boolean(),
  /** empty where the builds differ: nothing can be done together */
  devices: z.array(servedDeviceSchema).max(64),
});
export type Greeted = z.infer<typeof greetedSchema>;

/** characters of a line at the most */
export const longestLine = 65_536;

// The process beside `concertina worker` that holds the devices: the engine's program in a third role.

const deviceServer = '--device-server';

export function deviceServerArguments(): string[] {
  return [deviceServer];
}

export function isDeviceServer(argv: readonly string[]): boolean {
  return argv.includes(deviceServer);
}

export const deviceServerOperations = {
  /** begins to serve RPC on a port of the loopback interface. `threads`: 0: as many as there are cores */
  serve: operation(z.object({ port: z.number().int(), threads: z.number().int().min(0) }), nothing),
  devices: operation(nothing, z.object({ build: z.string(), devices: z.array(servedDeviceSchema) })),
  /** whether a device can compute an operation, as native/addon/workers/Operation.h writes it */
  computes: operation(z.object({ device: z.number().int(), operation: z.string() }), z.object({ yes: z.boolean() })),
} as const satisfies OperationMap;
export type DeviceServerOperations = typeof deviceServerOperations;

export const deviceServerEvents = {
  /** first message; why the binary cannot be used */
  onReady: z.object({ problem: z.string().nullable() }),
} as const satisfies EventMap;
export type DeviceServerEvents = typeof deviceServerEvents;

// What the window sees and asks for.

/** A host name or an IPv4 address, and a port: upstream's client reads no IPv6. */
export const workerAddressSchema = z
  .string()
  .trim()
  .max(260)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/)
  .transform((text) => (text.includes(':') ? text : `${text}:${usualWorkerPort}`))
  .refine((text) => Number(text.slice(text.lastIndexOf(':') + 1)) <= 65_535);

const workerStatusSchema = z.object({
  address: z.string(),
  /** models are loaded to it, too, when it is ready */
  on: z.boolean(),
  /** `refused`: it is of another build */
  state: z.enum(['off', 'connecting', 'ready', 'refused', 'lost']),
  /** of the app there; null: it has not said so */
  version: z.string().nullable(),
  devices: z.array(servedDeviceSchema),
  /** of the last ping, there and back; null: there was none */
  pingMs: z.number().nullable(),
  /** the model in use has layers there */
  inUse: z.boolean(),
  error: errorPayloadSchema.nullable(),
});
export type WorkerStatus = z.infer<typeof workerStatusSchema>;

const address = z.object({ address: workerAddressSchema });

export const workerOperations = {
  'workers.list': operation(nothing, z.array(workerStatusSchema)),
  /** and connects to it; again: tries once more */
  'workers.add': operation(address, nothing),
  'workers.remove': operation(address, nothing),
  'workers.use': operation(address.extend({ on: z.boolean() }), nothing),
} as const satisfies OperationMap;

export const workerEvents = { onWorkers: z.array(workerStatusSchema) } as const satisfies EventMap;
