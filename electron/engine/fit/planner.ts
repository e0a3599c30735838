/**
 * Answers "what would it take, and does it fit" for the slider, the models view, the command line and the load check, all
 * from upstream's dry run: nothing of a model but its header and vocabulary is read, and no weight, cache
 * or buffer is allocated.
 */

import { msg } from '@lingui/core/runtime-macro';
import type { ComparePlan } from '../../contract/compare/compare';
import type { AutoLength, MemoryEstimate } from '../../contract/engine';
import type { FitRequest, LoadRequest } from '../../contract/engineContract';
import { ConcertinaError, messageOf } from '../../contract/errors';
import {
  type Budget,
  type ContextFit,
  type DeviceUse,
  type FitMark,
  type MachineMemory,
  requestedLength,
} from '../../contract/fit';
import { allocatedBytes } from '../../contract/lib/memory';
import { limits } from '../../contract/limits';
import { spareBytes } from '../../contract/machine';
import {
  autoContext,
  type CacheChoice,
  type CacheType,
  type ContextSettings,
  cacheTypes,
  isBudget,
  usualContext,
} from '../../contract/settings';
import { BudgetTooSmall, type ListedTypes, listedTypes } from '../cacheBudget/budgetTypes';
import { type Prices, readPrices } from '../cacheBudget/prices';
import { freeMemory } from '../memory';
import { isOpen } from '../native/spread';
import type { CoreOptions, Engine, Found, MemoryPlan } from '../native/types';
import {
  added,
  allFit,
  budgetsOf,
  canMove,
  longestThatFits,
  onlyWeights,
  promptCacheIn,
  refusal,
  roomIn,
  roomsOf,
  step,
  withoutWeights,
  withWorkers,
} from './budgets';
import { coreOptions, DryRuns, type Wanted } from './dryRuns';

const markTypes: CacheType[] = ['f16', 'q8_0', 'turbo4', 'turbo3'];
/**
 * Auto begins with no more on a processor: reading so much takes it minutes, so that few chats get there, and a cache in RAM
 * is taken whole when it is made.
 */
const mostOnProcessor = 32_768;
/** longest context offered where the model does not say what it was trained for */
const untrainedLongest = 131_072;
type LoadQuestion = Pick<LoadRequest, 'path' | 'context' | 'api' | 'workers' | 'force' | 'atLeast' | 'beside'>;

export interface CheckedMemory {
  core: CoreOptions;
  /** null: the layers go where the settings want them */
  found: Found | null;
  /** null: the length was chosen */
  auto: AutoLength | null;
}

interface Placed extends Pick<CheckedMemory, 'found'> {
  plan: MemoryPlan;
  budgets: Budget[];
  fits: boolean;
}

export class MemoryPlanner {
  /** of the newest question of each view */
  private readonly asking = new Map<string, AbortController>();
  /** folder with what was measured of models; null: not known yet */
  measurements: string | null = null;

  private readonly dryRuns: DryRuns;

  /** `held`: what the loaded model uses */
  constructor(
    private readonly engine: () => Engine,
    private readonly held: () => DeviceUse[],
    private readonly ram = freeMemory,
  ) {
    this.dryRuns = new DryRuns(engine);
  }

  /** What is free and what the loaded model holds, read now: an answer must not disagree with itself. `beside`: see `LoadRequest` */
  machine(beside = 0): MachineMemory {
    const memories = this.engine().memories();
    const ram = this.ram(memories);
    return { memories, ram: { ...ram, free: ram.free - beside }, held: this.held() };
  }

  async estimate(path: string, context: Wanted): Promise<MemoryEstimate> {
    return this.plan(path, { ...context, nCtx: context.nCtx || usualContext });
  }

  /**
   * Throws `out-of-memory`, with the figures, when these settings do not fit, unless forced to.
   * @returns what the context has for the API, and its length where that is Auto
   */
  async check(question: LoadQuestion, signal?: AbortSignal): Promise<CheckedMemory> {
    const { path, context, api, workers, force, atLeast, beside } = question;
    const machine = withWorkers(this.machine(beside), workers);
    const wanted = { ...context, api, workers };
    const auto = context.nCtx === autoContext ? await this.autoLength(path, wanted, atLeast, machine, signal) : null;
    const settled = { ...wanted, nCtx: auto?.nCtx ?? context.nCtx };
    const placed = await this.placed(path, settled, machine, signal).catch((error: unknown) => {
      if (force && !api) return null; // the load says why
      throw error;
    });
    if (!placed) return { core: {}, found: null, auto };
    const { plan, found, budgets, fits } = placed;
    if (!force && !fits) throw refusal(plan.devices, budgets);
    return { core: coreOptions(api, promptCacheIn(budgets, plan, api)), found, auto };
  }

  /** A dry run with the layers where the settings want them; where they leave it open and that does not fit, of a spread that does. */
  private async placed(path: string, wanted: Wanted, machine: MachineMemory, signal?: AbortSignal): Promise<Placed> {
    const plan = await this.plan(path, wanted);
    const budgets = budgetsOf(plan.devices, machine);
    const asked = { plan, found: null, budgets, fits: allFit(budgets) };
    if (!isOpen(wanted) || !canMove(budgets, (wanted.workers ?? []).length > 0)) return asked;
    const found = await this.dryRuns.fit(path, wanted, roomsOf(machine), signal);
    const better = await this.plan(path, { ...wanted, found });
    const placed = { plan: better, found, budgets: budgetsOf(better.devices, machine) };
    // where a device does not hold its part, the figures are of what was asked for
    const helps = placed.budgets.every((one) => one.kind === 'ram' || roomIn([one]) >= 0);
    return helps ? { ...placed, fits: allFit(placed.budgets) } : asked;
  }

  /**
   * The length Auto: the longest that leaves memory for other programs, at most what the model was trained for; on a processor
   * not much at first. Never below 8,192 tokens for the sake of others, and what `atLeast` asks for in all of the memory.
   */
  async autoLength(
    path: string,
    context: Wanted,
    atLeast = 0,
    machine = this.machine(),
    signal?: AbortSignal,
  ): Promise<AutoLength> {
    const planOf = (nCtx: number) => this.plan(path, { ...context, nCtx });
    const { trained, devices } = await planOf(usualContext);
    const spare = spareBytes(machine.ram.total);
    const longestLeaving = async (beside: number, longest: number) => {
      const room = async (nCtx: number) => {
        const budgets = budgetsOf((await planOf(nCtx)).devices, machine);
        return roomIn(budgets.map((one) => (one.kind === 'ram' ? { ...one, needed: one.needed + beside } : one)));
      };
      const found = await longestThatFits(room, longest, this.dryRuns.lengths(path, context));
      return found > longest - step ? longest : found;
    };
    const { most, end } = bound(trained, devices, machine);
    const found = { nCtx: await longestLeaving(spare, most), end, spare };
    if (found.nCtx < most) found.end = 'memory';
    const least = Math.min(usualContext, most);
    const isPlacedAt = async (nCtx: number) => {
      try {
        const { found, fits } = await this.placed(path, { ...context, nCtx }, machine, signal);
        return found !== null && fits;
      } catch (error) {
        if (error instanceof BudgetTooSmall) return false;
        throw error;
      }
    };
    if (found.nCtx < least) {
      // with some layers in RAM rather than shorter; where nothing fits, the check of the load says so
      const isPlaced = await isPlacedAt(least);
      const nCtx = isPlaced ? least : (await longestLeaving(0, least)) || least;
      Object.assign(found, { nCtx, end: isPlaced ? 'placed' : 'tight' });
    }
    const needed = requestedLength({ nCtx: Math.ceil(atLeast / step) * step, rope: context.rope }, trained);
    if (needed <= found.nCtx) return found;
    const whole = await longestLeaving(0, needed);
    const grown = whole < needed && (await isPlacedAt(needed)) ? needed : whole;
    return grown > found.nCtx ? { nCtx: grown, end: 'grown', spare } : found;
  }

  /** Whether a context of these files and settings, be it of another length, was looked at before. */
  knows({ path, context, api, workers }: FitRequest): boolean {
    return this.dryRuns.lengths(path, { ...context, api, workers }).length > 0;
  }

  async fit(question: FitRequest, machine?: MachineMemory): Promise<ContextFit> {
    const own = new AbortController();
    const asker = question.asker;
    const older = new ConcertinaError('cancelled', msg`A newer question took the place of this one.`);
    if (asker !== undefined) {
      this.asking.get(asker)?.abort(older);
      this.asking.set(asker, own);
    }
    try {
      return await this.answer(question, machine, own.signal);
    } finally {
      if (asker !== undefined && this.asking.get(asker) === own) this.asking.delete(asker);
    }
  }

  /** What contexts take beside everything that is in memory now, the weights of the model among it. */
  async beside(path: string, contexts: Wanted[]): Promise<{ fits: boolean; needs: DeviceUse[]; budgets: Budget[] }> {
    const needs = await this.contextNeeds(path, contexts);
    const budgets = budgetsOf(needs, { ...this.machine(), held: [] });
    return { fits: allFit(budgets), needs, budgets };
  }

  /** Throws `out-of-memory`, with the figures, where they do not fit beside it. */
  async requireBeside(path: string, contexts: Wanted[]): Promise<void> {
    const { fits, needs, budgets } = await this.beside(path, contexts);
    if (!fits) throw refusal(needs, budgets);
  }

  /** Bytes of the KV cache of a context. */
  async cacheBytes(path: string, context: ContextSettings): Promise<number> {
    const { kvK, kvV } = await this.plan(path, { ...context, nCtx: Math.max(context.nCtx, limits.minContext) });
    return kvK + kvV;
  }

  /** The longest context of these types that fits in place of what is loaded; null: the model cannot have them. */
  longest(path: string, context: Wanted): Promise<FitMark | null> {
    return this.longestOf(path, context, this.machine());
  }

  /** Of contexts that the same weights serve one after the other: the largest that fits; none does: `otherwise`. */
  async neediest(
    path: string,
    contexts: ContextSettings[],
    otherwise: ContextSettings,
    machine = this.machine(),
  ): Promise<ContextSettings> {
    let most = { context: otherwise, bytes: 0 };
    for (const context of contexts) {
      const placed = await this.placed(path, context, machine).catch(() => null);
      const bytes = placed?.fits ? placed.plan.devices.reduce((sum, use) => sum + use.context + use.compute, 0) : 0;
      if (bytes > most.bytes) most = { context, bytes };
    }
    return most.context;
  }

  /** Contexts of one model: each in place of what is loaded, and all at once. */
  async comparison(path: string, contexts: ContextSettings[], machine = this.machine()): Promise<ComparePlan> {
    const columns: ComparePlan['columns'] = [];
    const possible: Wanted[] = [];
    const neediest = contexts[0] && (await this.neediest(path, contexts, contexts[0], machine));
    const placed = neediest && (await this.placed(path, neediest, machine).catch(() => null));
    const found = placed?.found ?? undefined;
    for (const asked of contexts) {
      const context: Wanted = { ...asked, ...(found && { found }) };
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
    const [any] = possible;
    const weights = any ? (await this.plan(path, any)).devices.map(onlyWeights) : [];
    const budgets = budgetsOf(added([...weights, ...(await this.contextNeeds(path, possible))]), machine);
    return { columns, together: { fits: possible.length === contexts.length && allFit(budgets), budgets } };
  }

  private async contextNeeds(path: string, contexts: Wanted[]): Promise<DeviceUse[]> {
    const needs: DeviceUse[] = [];
    for (const context of contexts) needs.push(...(await this.plan(path, context)).devices.map(withoutWeights));
    return added(needs);
  }

  private async longestOf(path: string, context: Wanted, machine: MachineMemory): Promise<FitMark | null> {
    const { trained } = await this.plan(path, context);
    const room = (plan: MemoryPlan) => roomIn(budgetsOf(plan.devices, machine));
    return this.mark(path, context, trained || untrainedLongest, room, () => {});
  }

  private async answer(
    { path, context: asked, api, workers, longest, marks: withMarks = true, sides }: FitRequest,
    given: MachineMemory | undefined,
    signal: AbortSignal,
  ): Promise<ContextFit> {
    const throwIfOld = () => signal.throwIfAborted();
    const machine = withWorkers(given ?? this.machine(), workers);
    const wanted = { ...asked, api, workers };
    const auto = asked.nCtx === autoContext ? await this.autoLength(path, wanted, 0, machine, signal) : null;
    const context: Wanted = { ...wanted, nCtx: auto?.nCtx ?? asked.nCtx };
    const { plan, found, budgets, fits } = await this.placed(path, context, machine, signal);
    const estimate = { ...plan, promptCache: promptCacheIn(budgets, plan, api) };
    const room = (plan: MemoryPlan) => roomIn(budgetsOf(plan.devices, machine));
    const isTight = found && room(await this.plan(path, { ...context, nCtx: limits.minContext })) < 0;
    const marked = isTight ? { ...context, found } : context;
    const end = longest ?? (estimate.trained || untrainedLongest);
    const marks: FitMark[] = [];
    const pairs = [[context.typeK, context.typeV], ...markTypes.map((type) => [type, type])] as [
      CacheChoice,
      CacheChoice,
    ][];
    for (const [typeK, typeV] of withMarks ? pairs : []) {
      throwIfOld();
      const mark = await this.mark(path, { ...marked, typeK, typeV }, end, room, throwIfOld);
      if (mark) marks.push(mark);
    }
    const answer = {
      ...(auto && { auto }),
      ...(found && { placement: found.placement }),
      ...{ devices: plan.devices, estimate, fits, budgets, trained: estimate.trained, marks },
    };
    return sides ? { ...answer, sides: await this.sides(path, context, throwIfOld) } : answer;
  }

  private async sides(
    path: string,
    context: Wanted,
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
    context: Wanted,
    longest: number,
    room: (plan: MemoryPlan) => number,
    throwIfOld: () => void,
  ): Promise<FitMark | null> {
    const planOf = (nCtx: number) => this.plan(path, { ...context, nCtx });
    const { typeK, typeV } = context;
    try {
      const last = await planOf(longest).catch((error: unknown) => {
        if (!(error instanceof BudgetTooSmall)) throw error;
        return this.plan(path, { ...context, nCtx: longest, typeK: 'turbo3', typeV: 'turbo3' });
      });
      const roomFor = async (nCtx: number) => {
        throwIfOld();
        return room(await planOf(nCtx));
      };
      // the engine makes no context that is longer than this
      const nCtx = await longestThatFits(roomFor, Math.min(longest, last.nCtx), this.dryRuns.lengths(path, context));
      const plan = nCtx > 0 ? await planOf(nCtx) : last;
      const bytes = nCtx > 0 ? allocatedBytes(plan) : 0;
      return { typeK, typeV, effectiveK: plan.typeK.effective, effectiveV: plan.typeV.effective, nCtx, bytes };
    } catch (error) {
      if ((error as { code?: unknown }).code === 'cache-type-unsupported') return null;
      throw error;
    }
  }

  /** The types of each layer for the budget that stands in place of types, as the native engine is told them. */
  listTypes(path: string, context: Wanted, prices: Prices | null = null): Promise<ListedTypes> {
    return listedTypes(
      context,
      (types) => this.plan(path, { ...context, ...types }),
      async (fingerprint) => prices ?? (this.measurements ? readPrices(this.measurements, fingerprint) : null),
    );
  }

  private plan(path: string, context: Wanted): Promise<MemoryPlan> {
    const unspent = [context.typeK, context.typeV].some((type) => isBudget(type) && !type.includes('='));
    // it may have been measured since it was asked before
    if (unspent) return this.listTypes(path, context).then((types) => this.plan(path, { ...context, ...types }));
    return this.dryRuns.plan(path, context);
  }
}

/** How long Auto is at the most, and why, whatever is free. */
function bound(
  trained: number,
  devices: DeviceUse[],
  machine: MachineMemory,
): { most: number; end: AutoLength['end'] } {
  const holding = devices.filter(({ kind, context }) => kind !== 'ram' && context > 0);
  const known = budgetsOf(holding, machine);
  const untold = holding.some(({ name }) => !known.some((budget) => budget.name === name));
  if (trained === 0 || untold) return { most: Math.min(usualContext, trained || usualContext), end: 'unknown' };
  if (holding.length === 0 && trained > mostOnProcessor) return { most: mostOnProcessor, end: 'processor' };
  return { most: trained, end: 'trained' };
}
