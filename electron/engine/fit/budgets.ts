/** What a load needs of each memory of the machine, what that memory can give, and the text of a refusal. */
import type { LoadRequest } from '../../contract/engineContract';
import { ConcertinaError, sizeText } from '../../contract/errors';
import type { Budget, DeviceMemory, DeviceUse, MachineMemory } from '../../contract/fit';
import { limits } from '../../contract/limits';
import { BudgetTooSmall } from '../cacheBudget/budgetTypes';
import type { DeviceRoom, MemoryPlan } from '../native/types';

const MiB = 1024 * 1024;

/**
 * Kept for everything else. In RAM: what this app adds after the check (text, tokens, an answer's samplers: some 100 MB), and
 * other programs, which go on growing; without it a context that just fits would make the system swap. More on a larger
 * machine, where more runs. On a GPU: the driver's context and the scratch space of its libraries, which no dry run sees,
 * and the screen.
 */
export function reserveOf(kind: Budget['kind'], total: number): number {
  return kind === 'ram' || kind === 'worker' ? 256 * MiB + total / 32 : Math.min(512 * MiB, total / 16);
}

/** What a worker has free was read before anything of ours was there: its share of the present model is no gain. */
export function withWorkers(machine: MachineMemory, workers: LoadRequest['workers'] = []): MachineMemory {
  const lent = workers.map(({ name, free, total }) => ({ name, kind: 'worker' as const, free, total }));
  return {
    ...machine,
    memories: [...machine.memories, ...lent],
    held: machine.held.filter(({ kind }) => kind !== 'worker'),
  };
}

const bytesOf = ({ weights, context, compute }: DeviceUse) => weights + context + compute;
const inRam = ({ kind }: DeviceUse) => kind === 'ram' || kind === 'unified';

export function budgetsOf(needs: DeviceUse[], { ram, memories, held }: MachineMemory): Budget[] {
  const fromRam = sum(
    held.filter(inRam),
    ({ weights, mapped, context, compute }) => weights - mapped + context + compute,
  );
  const budgets: Budget[] = [
    {
      kind: 'ram',
      name: 'RAM',
      needed: sum(needs.filter(inRam), bytesOf),
      available: left(ram.free + Math.min(fromRam, ram.releasable ?? fromRam), reserveOf('ram', ram.total)),
      total: ram.total,
    },
  ];
  for (const need of needs) {
    const { kind, name } = need;
    const memory = memories.find((candidate) => candidate.name === name);
    // a GPU that does not report its memory cannot be checked
    if (kind === 'ram' || !memory?.total) continue;
    budgets.push({ kind, name, needed: bytesOf(need), available: availableIn(memory, held), total: memory.total });
  }
  return budgets;
}

/** Of a GPU or a worker: bytes that a load may take. */
function availableIn({ name, kind, free, total }: DeviceMemory, held: DeviceUse[]): number {
  const given = sum(
    held.filter((use) => use.name === name),
    bytesOf,
  );
  return left(Math.min(total, (free ?? 0) + given), reserveOf(kind, total));
}

/**
 * What each GPU and worker may hold, in coarse steps: what other programs take changes all the time, and a load shall put the layers
 * where the estimate before it did.
 */
export function roomsOf({ memories, held }: MachineMemory): DeviceRoom[] {
  const known = memories.filter(({ kind, total }) => kind !== 'ram' && total > 0);
  return known.map((memory) => {
    const bytes = availableIn(memory, held);
    const coarse = 2 ** Math.floor(Math.log2(bytes)) / 64;
    return { device: memory.name, bytes: bytes < 64 ? 0 : Math.floor(bytes / coarse) * coarse };
  });
}

export function allFit(budgets: Budget[]): boolean {
  return roomIn(budgets) >= 0;
}

/** Whether layers that are spread in another way may fit: a GPU's into the RAM, and with workers the other way round. */
export function canMove(budgets: Budget[], toWorkers: boolean): boolean {
  const over = budgets.filter((budget) => roomIn([budget]) < 0);
  if (over.length === 0 || (!toWorkers && over.some(({ kind }) => kind === 'ram'))) return false;
  // RAM has what a GPU has that works in it
  return toWorkers || sum(budgets, (budget) => (budget.kind === 'unified' ? 0 : roomIn([budget]))) >= 0;
}

/** Bytes left in the memory that is shortest of them; negative: it does not fit. */
export function roomIn(budgets: Budget[]): number {
  return Math.min(...budgets.map(({ needed, available }) => available - needed));
}

/** Names the memory and the part that do not fit. */
export function refusal(needs: DeviceUse[], budgets: Budget[]): ConcertinaError {
  const tight = budgets.reduce((worst, next) => (roomIn([next]) < roomIn([worst]) ? next : worst));
  const uses = needs.filter((use) => (tight.kind === 'ram' ? inRam(use) : use.name === tight.name));
  const weights = sum(uses, (use) => use.weights);
  const cache = sum(uses, (use) => use.context);
  const compute = sum(uses, (use) => use.compute);
  const [part, hint] =
    weights > tight.available
      ? ['The weights do', 'Choose a smaller model or quantization, or close other programs.']
      : [
          weights + cache > tight.available ? 'The KV cache does' : 'The compute buffers do',
          'Choose a shorter context or a smaller cache type, or close other programs.',
        ];
  const message =
    `${part} not fit into ${tight.name}: ${sizeText(tight.needed)} are needed (weights ${sizeText(weights)}, KV cache ${sizeText(cache)}, ` +
    `compute buffers ${sizeText(compute)}), ${sizeText(tight.available)} are free beside ${sizeText(reserveOf(tight.kind, tight.total))} ` +
    'kept for everything else.';
  return new ConcertinaError('out-of-memory', message, hint);
}

/** What requests of the API leave behind is kept up to this. */
const mostPromptCache = 1024 * MiB;

/** Its limit: what is left of the RAM, so that it makes no context shorter. Where an option sets it, it is in the plan. */
export function promptCacheIn(budgets: Budget[], plan: MemoryPlan, api: LoadRequest['api']): number {
  if (!api || api.options.some((word) => /^(-cram|--cache[-_]ram)$/.test(word))) return plan.promptCache;
  const free = roomIn(budgets.filter(({ kind }) => kind === 'ram'));
  return Math.min(mostPromptCache, Math.max(0, Math.floor(free / MiB) * MiB));
}

// What several contexts need beside one model.

export function withoutWeights(use: DeviceUse): DeviceUse {
  return { ...use, weights: 0, mapped: 0 };
}

export function onlyWeights(use: DeviceUse): DeviceUse {
  return { ...use, context: 0, compute: 0 };
}

/** One entry for each device. */
export function added(uses: DeviceUse[]): DeviceUse[] {
  const sums = new Map<string, DeviceUse>();
  for (const use of uses) {
    const sum = sums.get(use.name);
    if (!sum) sums.set(use.name, { ...use });
    else for (const part of ['weights', 'mapped', 'context', 'compute'] as const) sum[part] += use[part];
  }
  return [...sums.values()];
}

function left(bytes: number, reserve: number): number {
  return Math.max(0, Math.floor(bytes - reserve));
}

function sum<T>(items: T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

// The longest context that fits, found with few dry runs: what a context takes grows almost in proportion to its length.

/** Bytes that a budget lacks, as room. */
function shortage(error: unknown): number {
  if (error instanceof BudgetTooSmall) return -error.missing;
  throw error;
}

/** The engine rounds a context up to whole groups of this many cells. */
export const step = 256;
/** Every third guess halves the interval, so that a curve that is not straight costs a few steps more and no loop. */
const halveEvery = 3;

/**
 * `room(nCtx)`: bytes that are left when a context of this length is loaded, negative where it does not fit; falls with nCtx.
 * `known`: lengths for which `room` costs nothing. Returns a multiple of 256, at most `longest`; 0 where nothing fits.
 */
export async function longestThatFits(
  roomFor: (nCtx: number) => Promise<number>,
  longest: number,
  known: readonly number[] = [],
): Promise<number> {
  const room = (nCtx: number) => roomFor(nCtx).catch(shortage);
  const last = Math.max(1, Math.floor(longest / step));
  let high = { index: last, room: await room(last * step) };
  if (high.room >= 0) return last * step;
  const first = Math.min(last, limits.minContext / step);
  let low = first === last ? high : { index: first, room: await room(first * step) };
  if (low.room < 0) return 0;

  async function probe(index: number): Promise<void> {
    if (index <= low.index || index >= high.index) return;
    const point = { index, room: await room(index * step) };
    if (point.room >= 0) low = point;
    else high = point;
  }
  for (const nCtx of known) if (nCtx % step === 0) await probe(nCtx / step);
  for (let tries = 1; high.index - low.index > 1; tries++) {
    const width = high.index - low.index;
    const share = tries % halveEvery === 0 ? 0.5 : low.room / (low.room - high.room);
    await probe(low.index + Math.min(width - 1, Math.max(1, Math.floor(width * share))));
  }
  return low.index * step;
}
