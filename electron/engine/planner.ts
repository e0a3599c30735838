/**
 * Answers "what would it take, and does it fit" for the slider, the models view, the command line and the load check, all
 * from upstream's dry run: nothing of a model but its header and vocabulary is read, and no weight, cache
 * or buffer is allocated.
 */

import { statSync } from 'node:fs';
import type { ComparePlan } from '../contract/compare';
import type { MemoryEstimate } from '../contract/engine';
import type { FitRequest } from '../contract/engineContract';
import { ConcertinaError, messageOf, sizeText } from '../contract/errors';
import {
  allocationOf,
  type Budget,
  type ContextFit,
  type DeviceUse,
  type FitMark,
  type MachineMemory,
} from '../contract/fit';
import { SerialQueue } from '../contract/lib/serialQueue';
import { limits } from '../contract/limits';
import { type CacheType, type ContextSettings, cacheTypes } from '../contract/settings';
import { freeMemory } from './memory';
import type { Engine, MemoryPlan } from './native/types';

const markTypes: CacheType[] = ['f16', 'q8_0', 'turbo4', 'turbo3'];
/** longest context offered where the model does not say what it was trained for */
const untrainedLongest = 131_072;
/** dry runs that are kept: some models, types and lengths */
const maxPlans = 512;

export class MemoryPlanner {
  /** dry runs by model file and settings; the oldest go first */
  private readonly plans = new Map<string, Promise<MemoryPlan>>();
  private readonly newest = new Map<string, number>();
  private questions = 0;
  /** one dry run at a time: they would only wait for each other, on threads that others need */
  private readonly dryRuns = new SerialQueue();

  /** `held`: what the loaded model uses */
  constructor(
    private readonly engine: () => Engine,
    private readonly held: () => DeviceUse[],
    private readonly ram = freeMemory,
  ) {}

  /** What is free and what the loaded model holds, read now: an answer must not disagree with itself. */
  machine(): MachineMemory {
    const memories = this.engine().memories();
    return { memories, ram: this.ram(memories), held: this.held() };
  }

  async estimate(path: string, context: ContextSettings): Promise<MemoryEstimate> {
    return this.plan(path, context);
  }

  /** Throws `out-of-memory`, with the figures, when these settings do not fit. */
  async check(path: string, context: ContextSettings): Promise<void> {
    const { devices } = await this.plan(path, context);
    const budgets = budgetsOf(devices, this.machine());
    if (!allFit(budgets)) throw refusal(devices, budgets);
  }

  async fit(question: FitRequest, machine?: MachineMemory): Promise<ContextFit> {
    const number = ++this.questions;
    const asker = question.asker;
    if (asker !== undefined) this.newest.set(asker, number);
    const isNewest = () => asker === undefined || this.newest.get(asker) === number;
    try {
      return await this.answer(question, machine, () => {
        if (!isNewest()) throw new ConcertinaError('cancelled', 'A newer question took the place of this one.');
      });
    } finally {
      if (asker !== undefined && isNewest()) this.newest.delete(asker);
    }
  }

  /** What contexts take beside everything that is in memory now, the weights of the model among it. */
  async beside(
    path: string,
    contexts: ContextSettings[],
  ): Promise<{ fits: boolean; needs: DeviceUse[]; budgets: Budget[] }> {
    const needs = await this.contextNeeds(path, contexts);
    const budgets = budgetsOf(needs, { ...this.machine(), held: [] });
    return { fits: allFit(budgets), needs, budgets };
  }

  /** Bytes of the KV cache of a context. */
  async cacheBytes(path: string, context: ContextSettings): Promise<number> {
    const { kvK, kvV } = await this.plan(path, { ...context, nCtx: Math.max(context.nCtx, limits.minContext) });
    return kvK + kvV;
  }

  /** The longest context of these types that fits in place of what is loaded; null: the model cannot have them. */
  longest(path: string, context: ContextSettings): Promise<FitMark | null> {
    return this.longestOf(path, context, this.machine());
  }

  /** Contexts of one model: each in place of what is loaded, and all at once. */
  async comparison(path: string, contexts: ContextSettings[], machine = this.machine()): Promise<ComparePlan> {
    const columns: ComparePlan['columns'] = [];
    const possible: ContextSettings[] = [];
    for (const context of contexts) {
      try {
        const estimate = await this.plan(path, context);
        const mark = await this.longestOf(path, context, machine);
        const longest = mark && { nCtx: mark.nCtx, bytes: mark.bytes };
        columns.push({ estimate, fits: allFit(budgetsOf(estimate.devices, machine)), problem: '', longest });
        possible.push(context);
      } catch (error) {
        const problem = messageOf(error);
        columns.push({ estimate: null, fits: false, problem, longest: null });
      }
    }
    const [first] = possible;
    const weights = first ? (await this.plan(path, first)).devices.map(onlyWeights) : [];
    const budgets = budgetsOf(added([...weights, ...(await this.contextNeeds(path, possible))]), machine);
    return { columns, together: { fits: possible.length === contexts.length && allFit(budgets), budgets } };
  }

  private async contextNeeds(path: string, contexts: ContextSettings[]): Promise<DeviceUse[]> {
    const needs: DeviceUse[] = [];
    for (const context of contexts) needs.push(...(await this.plan(path, context)).devices.map(withoutWeights));
    return added(needs);
  }

  private async longestOf(path: string, context: ContextSettings, machine: MachineMemory): Promise<FitMark | null> {
    const { trained } = await this.plan(path, context);
    const room = (plan: MemoryPlan) => roomIn(budgetsOf(plan.devices, machine));
    return this.mark(path, context, trained || untrainedLongest, room, () => {});
  }

  private async answer(
    { path, context, longest, sides }: FitRequest,
    given: MachineMemory | undefined,
    throwIfOld: () => void,
  ): Promise<ContextFit> {
    const estimate = await this.plan(path, context);
    const machine = given ?? this.machine();
    const budgets = budgetsOf(estimate.devices, machine);
    const room = (plan: MemoryPlan) => roomIn(budgetsOf(plan.devices, machine));
    const end = longest ?? (estimate.trained || untrainedLongest);
    const marks: FitMark[] = [];
    const pairs = [[context.typeK, context.typeV], ...markTypes.map((type) => [type, type])] as [
      CacheType,
      CacheType,
    ][];
    for (const [typeK, typeV] of pairs) {
      throwIfOld();
      const mark = await this.mark(path, { ...context, typeK, typeV }, end, room, throwIfOld);
      if (mark) marks.push(mark);
    }
    const answer = { estimate, fits: allFit(budgets), budgets, trained: estimate.trained, marks };
    return sides ? { ...answer, sides: await this.sides(path, context, throwIfOld) } : answer;
  }

  private async sides(
    path: string,
    context: ContextSettings,
    throwIfOld: () => void,
  ): Promise<NonNullable<ContextFit['sides']>> {
    const sides: NonNullable<ContextFit['sides']> = { K: {}, V: {} };
    for (const type of cacheTypes) {
      throwIfOld();
      // f16 on the other side: what one side cannot have says nothing about the other
      const [k, v] = await Promise.all([
        this.plan(path, { ...context, typeK: type, typeV: 'f16' }).catch(() => null),
        this.plan(path, { ...context, typeK: 'f16', typeV: type }).catch(() => null),
      ]);
      sides.K[type] = k?.kvK ?? null;
      sides.V[type] = v?.kvV ?? null;
    }
    return sides;
  }

  /** null: the model cannot have these types at all */
  private async mark(
    path: string,
    context: ContextSettings,
    longest: number,
    room: (plan: MemoryPlan) => number,
    throwIfOld: () => void,
  ): Promise<FitMark | null> {
    const planOf = (nCtx: number) => this.plan(path, { ...context, nCtx });
    const { typeK, typeV } = context;
    try {
      const last = await planOf(longest);
      const roomFor = async (nCtx: number) => {
        throwIfOld();
        return room(await planOf(nCtx));
      };
      // the engine makes no context that is longer than this
      const nCtx = await longestThatFits(roomFor, Math.min(longest, last.nCtx), this.knownLengths(path, context));
      const plan = nCtx > 0 ? await planOf(nCtx) : last;
      const bytes = nCtx > 0 ? plan.weights + plan.kvK + plan.kvV + plan.compute : 0;
      return { typeK, typeV, effectiveK: plan.typeK.effective, effectiveV: plan.typeV.effective, nCtx, bytes };
    } catch (error) {
      if ((error as { code?: unknown }).code === 'cache-type-unsupported') return null;
      throw error;
    }
  }

  private plan(path: string, context: ContextSettings): Promise<MemoryPlan> {
    const key = keyOf(path, context);
    const kept = this.plans.get(key);
    if (kept) return kept;
    const { gpuLayers, ...options } = context;
    const plan = this.dryRuns.run(() => this.engine().estimate(path, gpuLayers, options));
    this.plans.set(key, plan);
    plan.catch(() => this.plans.delete(key));
    if (this.plans.size > maxPlans) this.plans.delete(this.plans.keys().next().value as string);
    return plan;
  }

  private knownLengths(path: string, context: ContextSettings): number[] {
    const prefix = keyOf(path, context).replace(/\d+$/, '');
    const lengths: number[] = [];
    for (const key of this.plans.keys()) if (key.startsWith(prefix)) lengths.push(Number(key.slice(prefix.length)));
    return lengths;
  }
}

function withoutWeights(use: DeviceUse): DeviceUse {
  return { ...use, weights: 0, mapped: 0 };
}

function onlyWeights(use: DeviceUse): DeviceUse {
  return { ...use, context: 0, compute: 0 };
}

/** One entry for each device. */
function added(uses: DeviceUse[]): DeviceUse[] {
  const sums = new Map<string, DeviceUse>();
  for (const use of uses) {
    const sum = sums.get(use.name);
    if (!sum) sums.set(use.name, { ...use });
    else for (const part of ['weights', 'mapped', 'context', 'compute'] as const) sum[part] += use[part];
  }
  return [...sums.values()];
}

/** Everything that decides the allocation, the length last. */
function keyOf(path: string, context: ContextSettings): string {
  const { nCtx, ...rest } = allocationOf(context);
  const stat = statSync(path, { throwIfNoEntry: false });
  return `${path}|${stat?.size}|${stat?.mtimeMs}|${JSON.stringify(rest)}|${nCtx}`;
}

// What a load needs of each memory of the machine, what that memory can give, and the text of a refusal.

const MiB = 1024 * 1024;

/**
 * Kept for everything else. In RAM: what this app adds after the check (text, tokens, an answer's samplers: some 100 MB), and
 * other programs, which go on growing; without it a context that just fits would make the system swap. More on a larger
 * machine, where more runs. On a GPU: the driver's context and the scratch space of its libraries, which no dry run sees,
 * and the screen.
 */
export function reserveOf(kind: Budget['kind'], total: number): number {
  return kind === 'ram' ? 256 * MiB + total / 32 : Math.min(512 * MiB, total / 16);
}

const bytesOf = ({ weights, context, compute }: DeviceUse) => weights + context + compute;
const inRam = ({ kind }: DeviceUse) => kind !== 'gpu';

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
    const { free, total } = memory;
    const given = sum(
      held.filter((use) => use.name === name),
      bytesOf,
    );
    const available = left(Math.min(total, (free ?? 0) + given), reserveOf(kind, total));
    budgets.push({ kind, name, needed: bytesOf(need), available, total });
  }
  return budgets;
}

function allFit(budgets: Budget[]): boolean {
  return roomIn(budgets) >= 0;
}

/** Bytes left in the memory that is shortest of them; negative: it does not fit. */
function roomIn(budgets: Budget[]): number {
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

function left(bytes: number, reserve: number): number {
  return Math.max(0, Math.floor(bytes - reserve));
}

function sum<T>(items: T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

// The longest context that fits, found with few dry runs: what a context takes grows almost in proportion to its length.

/** The engine rounds a context up to whole groups of this many cells. */
const step = 256;
/** Every third guess halves the interval, so that a curve that is not straight costs a few steps more and no loop. */
const halveEvery = 3;

/**
 * `room(nCtx)`: bytes that are left when a context of this length is loaded, negative where it does not fit; falls with nCtx.
 * `known`: lengths for which `room` costs nothing. Returns a multiple of 256, at most `longest`; 0 where nothing fits.
 */
export async function longestThatFits(
  room: (nCtx: number) => Promise<number>,
  longest: number,
  known: readonly number[] = [],
): Promise<number> {
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
