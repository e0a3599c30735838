/** Comparisons of cache types and models: the form, the run that is shown, and the list of all that were made. */

import type {
  CompareConfiguration,
  CompareFormat,
  CompareFrame,
  CompareProgress,
  ComparePrompt,
  CompareRun,
  CompareSummary,
} from '../../../electron/contract/compare/compare';
import type { OperationInput, OperationOutput } from '../../../electron/contract/contract';
import type { LoadedContext } from '../../../electron/contract/engine';
import { ownContextSchema, usualContext } from '../../../electron/contract/settings';
import { errorPayloadOf } from '../../bridge/client';
import {
  type AppState,
  type CompareForm,
  compareDraftKey,
  type DraftDocument,
  emptyDraft,
  type FormChat,
  type FormRow,
  type LiveColumn,
  nothingOwn,
} from '../appState';
import {
  configurationsOf,
  formOf,
  newForm,
  ofModel,
  otherModelsOf,
  planKey,
  requestOf,
  withModel,
} from '../lib/compareForm';
import { outcomeOf, type Tools } from '../slice';
import type { createDocumentsActions } from './documents';
import { type createModelsActions, selectCurrentModel } from './models';

export function createCompareActions(
  { client, get, patch }: Tools,
  documents: Pick<ReturnType<typeof createDocumentsActions>, 'attachStored'>,
  models: Pick<ReturnType<typeof createModelsActions>, 'setDefaults'>,
) {
  /** counts questions: the newest one wins */
  let planning = 0;
  let planningCheck = 0;

  /** null: it was refused, and the view says why */
  async function tried<T>(call: Promise<T>): Promise<T | null> {
    try {
      const value = await call;
      patch('compare', { problem: null });
      return value;
    } catch (error) {
      patch('compare', { problem: errorPayloadOf(error) });
      return null;
    }
  }

  function form(): CompareForm {
    return (
      get().compare.form ??
      newForm(get().settings.saved?.context.nCtx || (get().engine.status?.context?.nCtx ?? usualContext))
    );
  }

  function edit(change: Partial<CompareForm>): void {
    patch('compare', { form: { ...form(), ...change } });
  }

  /** Of the form; the rows that named it are rows of the form's model now. */
  function setModel(modelId: string): void {
    const rows = form().rows.map((row) => (row.modelId === modelId ? ofModel(row, modelId, modelId) : row));
    edit({ modelId, rows });
  }

  /** Another model beside that of the form. */
  function addModel(modelId: string): void {
    edit(withModel(form(), modelId));
  }

  /** Brings the view up: with a chat as the prompt, or as it was left. A comparison that runs is shown. */
  function show(chat: FormChat | null = null): void {
    patch('compare', { open: true, problem: null });
    const running = get().engine.status?.comparing ?? null;
    if (chat) {
      patch('compare', { run: null, form: { ...form(), kind: 'chat', chat } });
    } else if (running !== null && get().compare.run?.id !== running) void openRun(running);
    else edit({});
  }

  /** With the question that a message of the open chat answers. */
  function showChat(leafId: string): void {
    const { chat } = get().conversation;
    if (chat) show({ chatId: chat.id, leafId, title: chat.title });
  }

  async function openRun(runId: string): Promise<void> {
    patch('compare', { open: true, openingId: runId });
    const run = await tried(client.call('compare.get', { runId }));
    if (get().compare.openingId !== runId) return;
    patch('compare', run ? { run, openingId: null } : { openingId: null });
  }

  function receive(progress: CompareProgress): void {
    const { run } = get().compare;
    if (run?.id === progress.id) patch('compare', { run: { ...run, ...progress } });
  }

  function frame({ runId, index, text, thinking, stats }: CompareFrame): void {
    const { live } = get().compare;
    const columns = live?.runId === runId ? live.columns : {};
    const before = columns[index];
    const column = { text: (before?.text ?? '') + text, thinking: (before?.thinking ?? '') + thinking, stats };
    patch('compare', { live: { runId, columns: { ...columns, [index]: column } } });
  }

  function currentModelId(): string | null {
    return form().modelId ?? selectCurrentModel(get())?.id ?? null;
  }

  async function began(call: Promise<{ runId: string }>): Promise<void> {
    if (get().compare.starting) return;
    patch('compare', { starting: true });
    const started = await tried(call);
    patch('compare', { starting: false });
    if (started) await openRun(started.runId);
  }

  async function start(): Promise<void> {
    const modelId = currentModelId();
    if (modelId === null) return;
    await began(client.call('compare.start', requestOf(form(), selectCompareDocuments(get()), modelId)));
  }

  /** What the rows would take of the memory, each alone and all together. */
  async function plan(modelId: string, rows: readonly FormRow[]): Promise<void> {
    const number = ++planning;
    const configurations = configurationsOf(rows, modelId);
    const outcome = await outcomeOf(client.call('compare.estimate', { modelId, configurations }));
    if (number === planning) patch('compare', { plan: { key: planKey(modelId, rows), outcome } });
  }

  /** What a check of the model would run. `asked`: its depth in tokens, null: as long as its context */
  async function planCheck(modelId: string, asked: number | null): Promise<void> {
    const number = ++planningCheck;
    const outcome = await outcomeOf(client.call('compare.planCheck', depthOf(modelId, asked)));
    if (number === planningCheck) patch('compare', { checkPlan: { modelId, asked, outcome } });
  }

  /** Tokens of a prompt; null: it cannot be counted now. Whether it can be read is for the start to say. */
  async function count(modelId: string, prompt: ComparePrompt): Promise<number | null> {
    const answer = await client.call('compare.count', { modelId, prompt }).catch(() => null);
    return answer?.tokens ?? null;
  }

  /** The form with everything that a run was made of, to change something of it. */
  async function editAgain({ request, name }: CompareRun): Promise<void> {
    const { drafts } = get().conversation;
    patch('compare', { run: null, form: formOf(request, name), problem: null });
    if (request.prompt.kind !== 'documents') return;
    patch('conversation', { drafts: { ...drafts, [compareDraftKey]: emptyDraft } });
    for (const { documentId, part } of request.prompt.attachments) {
      await documents.attachStored(documentId, part, compareDraftKey);
    }
  }

  /**
   * The types and the length of a column become what is set for its model alone; of a check the types. `now`: it is loaded with them
   * for the open chat, which takes the place of the comparison. @returns false: it was refused
   */
  async function use(run: CompareRun, index: number, now: boolean): Promise<boolean> {
    const column = run.columns[index];
    if (!column) return false;
    const { typeK, typeV, modelId = run.request.modelId } = column.configuration;
    const { prompt } = run.request;
    const { saved } = get().settings;
    if (!saved) return false;
    const before = get().models.list?.find((model) => model.id === modelId)?.defaults ?? nothingOwn;
    const length = before.context?.nCtx ?? saved.context.nCtx;
    const nCtx = prompt.kind === 'check' ? length : column.configuration.nCtx;
    const context = { ...ownContextSchema.parse(before.context ?? saved.context), typeK, typeV, nCtx };
    if (now) patch('compare', { open: false });
    const done = await models.setDefaults(modelId, { ...before, context }, now ? {} : undefined);
    if (!done && now) patch('compare', { open: true });
    return done;
  }

  /** After a connection was lost: what happened meanwhile. A view that was closed stays closed. */
  async function refresh(runId: string): Promise<void> {
    const run = await tried(client.call('compare.get', { runId }));
    if (run && get().compare.run?.id === runId) patch('compare', { run });
  }

  return {
    show,
    showChat,
    refresh,
    edit,
    setModel,
    addModel,
    openRun,
    receive,
    frame,
    start,
    plan,
    planCheck,
    check: (modelId: string, asked: number | null) => began(client.call('compare.check', depthOf(modelId, asked))),
    count,
    editAgain,
    use,
    receiveRuns: (runs: CompareSummary[]) => patch('compare', { runs }),
    close: () => patch('compare', { open: false }),
    /** Back to the form and the list. */
    leaveRun: () => patch('compare', { run: null, openingId: null, form: form(), problem: null }),
    closeProblem: () => patch('compare', { problem: null }),
    rerun: (runId: string) => began(client.call('compare.rerun', { runId })),
    cancel: (runId: string) => tried(client.call('compare.cancel', { runId })),

    async rename(runId: string, name: string): Promise<void> {
      const summary = await tried(client.call('compare.rename', { runId, name }));
      const { run } = get().compare;
      if (summary && run?.id === runId) patch('compare', { run: { ...run, name: summary.name } });
    },

    async remove(runId: string): Promise<void> {
      if ((await tried(client.call('compare.remove', { runId }))) === null) return;
      if (get().compare.run?.id === runId) patch('compare', { run: null, form: form() });
    },

    /** The text of a file; null: it was refused. */
    exportRun: (runId: string, format: CompareFormat): Promise<OperationOutput<'compare.export'> | null> =>
      tried(client.call('compare.export', { runId, format })),
  };
}

function depthOf(modelId: string, asked: number | null): OperationInput<'compare.check'> {
  return { modelId, ...(asked !== null && { depth: asked }) };
}

export const selectCompareOpen = (state: AppState) => state.compare.open;
export const selectForm = (state: AppState) => state.compare.form;
export const selectCheckPlan = (state: AppState) => state.compare.checkPlan;
export const selectPlan = (state: AppState) => state.compare.plan;
export const selectRuns = (state: AppState) => state.compare.runs;
export const selectRun = (state: AppState) => state.compare.run;
export const selectOpeningRun = (state: AppState) => state.compare.openingId;
export const selectStarting = (state: AppState) => state.compare.starting;
export const selectCompareProblem = (state: AppState) => state.compare.problem;
/** id of the comparison that runs, whether it is shown or not */
export const selectComparing = (state: AppState) => state.engine.status?.comparing ?? null;

export const selectCompareDocuments = (state: AppState): readonly DraftDocument[] =>
  (state.conversation.drafts[compareDraftKey] ?? emptyDraft).documents;

/** Of the form, or the one in use; null: none is known yet. */
export const selectCompareModelId = (state: AppState) =>
  state.compare.form?.modelId ?? selectCurrentModel(state)?.id ?? null;

/** Whether the form has other models beside its own. */
export function selectHasOtherModels(state: AppState): boolean {
  const { form } = state.compare;
  return form !== null && otherModelsOf(form, selectCompareModelId(state)).length > 0;
}

/** Beyond it contexts are cut; null: they are not, or it is not known. */
export function selectLongestContext(state: AppState): number | null {
  const id = selectCompareModelId(state);
  const model = state.models.list?.find(({ places }) => places.some((place) => place.id === id));
  const trained = model?.info?.nCtxTrain ?? 0;
  return trained > 0 && state.settings.saved?.context.rope === 'model' ? trained : null;
}

export function selectLiveColumn(runId: string, index: number) {
  return ({ compare: { live } }: AppState): LiveColumn | null =>
    live?.runId === runId ? (live.columns[index] ?? null) : null;
}

/** The last check of a model that came to a verdict; null: there is none. */
export function selectLastCheck(modelId: string | null) {
  return ({ compare: { runs }, engine: { status } }: AppState): CompareSummary | null => {
    const loaded = status?.modelId === modelId ? status?.context?.fingerprint : '';
    const isOf = ({ check }: CompareSummary) =>
      check !== null && (check.modelId === modelId || (loaded !== '' && check.fingerprint === loaded));
    return runs?.find(isOf) ?? null;
  };
}

export interface BrokenCalls {
  runId: string;
  depth: number;
  /** calls that were right with the types in use, and under f16, of all */
  calls: number;
  right: number;
  all: number;
  /** the smallest pair that lost nothing */
  whole: Pick<CompareConfiguration, 'typeK' | 'typeV'>;
}

/** What the last check of this model with the types in use found them to break of calls of tools; null: nothing, or there was none. */
export function brokenCalls(
  runs: readonly CompareSummary[],
  context: Pick<LoadedContext, 'fingerprint' | 'typeK' | 'typeV'> | null,
): BrokenCalls | null {
  if (!context?.fingerprint) return null;
  for (const { id, check, configurations } of runs) {
    if (check?.fingerprint !== context.fingerprint || check.pick === null) continue;
    const pair = check.pairs.find((one) => one.typeK === context.typeK.asked && one.typeV === context.typeV.asked);
    const whole = configurations[check.pick];
    if (!pair || !whole) continue;
    const { right, all } = check.calls;
    return pair.calls < right ? { runId: id, depth: check.depth, calls: pair.calls, right, all, whole } : null;
  }
  return null;
}

/** Tokens up to which the types in use were checked with this model, by its content; null: they were not. */
export function selectCheckedDepth({ compare: { runs }, engine: { status } }: AppState): number | null {
  const context = status?.context;
  if (!context?.fingerprint) return null;
  const { fingerprint, typeK, typeV } = context;
  const depths = (runs ?? []).flatMap(({ check }) => {
    const isIn = check?.pairs.some((pair) => pair.typeK === typeK.asked && pair.typeV === typeV.asked);
    return check?.fingerprint === fingerprint && isIn ? [check.depth] : [];
  });
  return depths.length > 0 ? Math.max(...depths) : null;
}
