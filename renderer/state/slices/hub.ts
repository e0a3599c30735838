/** Search of the hub, the page of one model, and what its files would take of this machine. */

import { t } from '@lingui/core/macro';
import type { ErrorPayload } from '../../../electron/contract/errors';
import { allocationOf, shortBudget } from '../../../electron/contract/fit';
import type {
  CatalogEntry,
  Download,
  DownloadRequest,
  HubFile,
  HubFit,
  HubModelPage,
  HubSort,
} from '../../../electron/contract/hub';
import type { ContextSettings } from '../../../electron/contract/settings';
import { errorPayloadOf } from '../../bridge/client';
import { type AppState, fileKey, type Outcome, type RequestedContext } from '../appState';
import { outcomeOf, type Tools } from '../slice';

const restMs = 350;
/** answers that are kept; older ones are asked for again */
const keptFits = 200;

export function createHubActions({ client, get, patch }: Tools) {
  /** counts searches: the newest one wins */
  let searches = 0;
  /** counts requests of the first screen: what belongs to an older one begins nothing */
  let takes = 0;
  let typing: ReturnType<typeof setTimeout> | undefined;

  async function find(): Promise<void> {
    clearTimeout(typing);
    const number = ++searches;
    const { query, sort } = get().hub;
    patch('hub', { searching: true, asksMore: false, problem: null });
    const found = await outcomeOf(client.call('hub.search', { query: query.trim(), sort, asker: 'hub' }));
    if (number !== searches) return;
    if (found.ok) patch('hub', { searching: false, results: { query: query.trim(), sort, ...found.value } });
    else patch('hub', { searching: false, results: null, problem: found.error });
  }

  async function more(): Promise<void> {
    const { results, asksMore } = get().hub;
    if (!results?.next || asksMore) return;
    const number = searches;
    patch('hub', { asksMore: true, problem: null });
    const { query, sort, next: cursor } = results;
    const found = await outcomeOf(client.call('hub.search', { query, sort, cursor, asker: 'hub' }));
    if (number !== searches) return;
    if (!found.ok) return patch('hub', { asksMore: false, problem: found.error });
    const known = new Set(results.models.map(({ repo }) => repo));
    const fresh = found.value.models.filter(({ repo }) => !known.has(repo));
    const models = [...results.models, ...fresh];
    patch('hub', { asksMore: false, results: { ...results, models, next: found.value.next } });
  }

  async function openPage(repo: string): Promise<void> {
    patch('hub', { page: { repo, outcome: null, file: null } });
    const outcome = await outcomeOf(client.call('hub.model', { repo }));
    if (get().hub.page?.repo !== repo) return;
    const usual = get().hub.catalog?.find((entry) => entry.repo === repo)?.quant;
    const file = outcome.ok ? (firstFile(outcome.value, usual)?.file ?? null) : null;
    patch('hub', { page: { repo, outcome, file } });
  }

  async function readCatalog(): Promise<void> {
    if (get().hub.catalog) return;
    const found = await outcomeOf(client.call('hub.catalog', undefined));
    // without suggestions there is still the search
    patch('hub', { catalog: found.ok ? found.value : [] });
  }

  /** @returns why the download was not begun; null: it was, or nobody waits for it any more */
  async function getFirst(entry: CatalogEntry, wanted: () => boolean): Promise<ErrorPayload | null> {
    const page = await outcomeOf(client.call('hub.model', { repo: entry.repo }));
    if (!page.ok || !wanted()) return page.ok ? null : page.error;
    const files = filesOf(page.value).filter(isUsable);
    const file = files.find((one) => one.file === entry.file) ?? firstFile(page.value, entry.quant);
    const { repo, revision } = page.value;
    if (!file) {
      const message = t`The hub has no file of ${entry.title} that can be used.`;
      return { code: 'not-found', message, hint: t`Choose one of the other models.` };
    }
    const { saved } = get().settings;
    const question = { repo, revision, file: file.file, asker: 'first' };
    const fit = saved && (await outcomeOf(client.call('hub.fit', { ...question, context: saved.context })));
    if (!wanted()) return null;
    // what could not be asked is no reason against it; that it cannot be loaded is
    if (fit?.ok && fit.value.grade === 'none') return tooLarge(entry, fit.value);
    const begun = await outcomeOf(client.call('downloads.start', { repo, revision, file: file.file }));
    return begun.ok ? null : begun.error;
  }

  /** Nobody waits for the answer any more. */
  function cancel(): void {
    clearTimeout(typing);
    searches += 1;
    // a connection that is gone has nothing to be canceled
    void client.call('hub.cancelSearch', { asker: 'hub' }).catch(() => undefined);
    patch('hub', { searching: false, asksMore: false });
  }

  /** Asks when the typing rests. */
  function type(query: string): void {
    patch('hub', { query });
    clearTimeout(typing);
    typing = setTimeout(() => void find(), restMs);
  }

  /** Escape in the field: ends the search, else empties the field. False: there was nothing to give up. */
  function giveUp(): boolean {
    const { searching, query } = get().hub;
    if (searching) cancel();
    else if (query !== '') type('');
    else return false;
    return true;
  }

  /** One question at a time: a newer one ends the older, whose answer nobody waits for. */
  async function askFit(page: HubModelPage, file: HubFile, context: ContextSettings): Promise<void> {
    const key = fitKey(page, file.file, context);
    if (get().hub.fits[key]?.ok) return;
    const { repo, revision } = page;
    const asked = client.call('hub.fit', { repo, revision, file: file.file, context, asker: 'hub' });
    const outcome = await outcomeOf<HubFit>(asked);
    if (!outcome.ok && outcome.error.code === 'cancelled') return;
    const kept = Object.entries(get().hub.fits).slice(1 - keptFits);
    patch('hub', { fits: { ...Object.fromEntries(kept), [key]: outcome } });
  }

  return {
    askFit,
    type,
    cancel,
    giveUp,
    more,
    openPage,
    search: find,

    sortBy(sort: HubSort): void {
      patch('hub', { sort });
      void find();
    },

    closePage: () => patch('hub', { page: null }),

    chooseFile(file: string): void {
      const { page } = get().hub;
      if (page) patch('hub', { page: { ...page, file } });
    },

    ask: (asked: RequestedContext | null) => patch('hub', { asked }),

    /** A verdict that could not be found is asked for again. */
    forgetFailures(): void {
      const good = Object.entries(get().hub.fits).filter(([, outcome]) => outcome.ok);
      patch('hub', { fits: Object.fromEntries(good) });
    },

    /** What the first look needs: suggestions and the first search. */
    async begin(): Promise<void> {
      const { results, searching } = get().hub;
      if (!results && !searching) void find();
      await readCatalog();
    },

    readCatalog,

    /** The model of the first screen: the hub is asked for its file, whether it fits, and for the file itself. */
    async takeFirst(entry: CatalogEntry): Promise<void> {
      const number = ++takes;
      patch('hub', { first: { asking: true, problem: null } });
      const problem = await getFirst(entry, () => number === takes);
      if (number === takes) patch('hub', { first: { asking: false, problem } });
    },

    /** Nothing is begun any more. A download that has begun is on the list. */
    leaveFirst(): void {
      takes += 1;
      patch('hub', { first: { asking: false, problem: null } });
    },

    async readAccount(): Promise<void> {
      const found = await outcomeOf(client.call('hub.account', undefined));
      if (found.ok) patch('hub', { account: found.value });
    },

    /** null: forgotten. The answer says why it was refused; the token itself is kept nowhere here. */
    async setToken(token: string | null): Promise<Outcome<null>> {
      const found = await outcomeOf(client.call('hub.setToken', { token }));
      if (!found.ok) return found;
      patch('hub', { account: found.value });
      return { ok: true, value: null };
    },
  };
}

function tooLarge({ title }: CatalogEntry, { fit }: HubFit): ErrorPayload {
  const short = shortBudget(fit.budgets);
  const message = short
    ? t`${title} does not fit into the memory that is free now (${short.name}).`
    : t`${title} does not fit into the memory that is free now.`;
  return { code: 'out-of-memory', message, hint: t`End other programs, or choose a smaller model.` };
}

// The file that a page begins with: what most people would take.

/** good answers in little memory, in this order */
const usualQuants = ['Q4_K_M', 'UD-Q4_K_XL', 'Q4_K_S', 'MXFP4', 'Q4_0', 'Q5_K_M', 'Q8_0'];

export function filesOf(page: HubModelPage): HubFile[] {
  return page.quants.flatMap(({ files }) => files);
}

/** A file that can be chatted with once it is here. */
export function isUsable({ kind, missingParts }: HubFile): boolean {
  return kind === 'model' && missingParts === 0;
}

/** The usual files of a page, the best to take first. `quant`: that of the catalog, where it names the model */
export function preferredFiles(page: HubModelPage, quant?: string): HubFile[] {
  const usable = filesOf(page).filter(isUsable);
  const names = [...new Set([...(quant ? [quant] : []), ...usualQuants])];
  return names.flatMap((name) => usable.find((file) => file.quant === name) ?? []);
}

/** null: nothing here can be used */
export function firstFile(page: HubModelPage, quant?: string): HubFile | null {
  return preferredFiles(page, quant)[0] ?? filesOf(page).find(isUsable) ?? null;
}

/** Which question a verdict answers. */
export function fitKey(
  { repo, revision }: Pick<HubModelPage, 'repo' | 'revision'>,
  file: string,
  context: ContextSettings,
): string {
  return JSON.stringify([repo, revision, file, allocationOf(context)]);
}

export const selectHubQuery = (state: AppState) => state.hub.query;
export const selectHubSort = (state: AppState) => state.hub.sort;
export const selectHubSearching = (state: AppState) => state.hub.searching;
export const selectHubAsksMore = (state: AppState) => state.hub.asksMore;
export const selectHubResults = (state: AppState) => state.hub.results;
export const selectHubProblem = (state: AppState) => state.hub.problem;
export const selectCatalog = (state: AppState) => state.hub.catalog;
export const selectHubPage = (state: AppState) => state.hub.page;
export const selectRequestedContext = (state: AppState) => state.hub.asked;
export const selectHubFits = (state: AppState) => state.hub.fits;
export const selectFirstRequest = (state: AppState) => state.hub.first;
export const selectHubAccount = (state: AppState) => state.hub.account;

// Downloads of models: what a person does with them. How they go comes from the services.

export function createDownloadsActions({ client, get, patch }: Tools) {
  async function change(act: () => Promise<unknown>): Promise<void> {
    patch('downloads', { problem: null });
    try {
      await act();
    } catch (error) {
      patch('downloads', { problem: errorPayloadOf(error) });
    }
  }

  return {
    receive: (list: Download[]) => patch('downloads', { list }),
    closeProblem: () => patch('downloads', { problem: null }),

    async start(request: DownloadRequest): Promise<void> {
      const key = fileKey(request);
      patch('downloads', { starting: [...get().downloads.starting, key] });
      await change(() => client.call('downloads.start', request));
      patch('downloads', { starting: get().downloads.starting.filter((other) => other !== key) });
    },

    pause: (id: string) => change(() => client.call('downloads.pause', { id })),
    resume: (id: string) => change(() => client.call('downloads.resume', { id })),
    cancel: (id: string) => change(() => client.call('downloads.cancel', { id })),
    clear: () => change(() => client.call('downloads.clear', undefined)),
  };
}

export const selectDownloads = (state: AppState) => state.downloads.list;
export const selectDownloadProblem = (state: AppState) => state.downloads.problem;

export const selectIsStarting = (repo: string, file: string) => (state: AppState) =>
  state.downloads.starting.includes(fileKey({ repo, file }));

/** null: nobody has asked for it */
export const selectDownloadOf =
  (repo: string, file: string) =>
  (state: AppState): Download | null =>
    state.downloads.list?.find((one) => one.repo === repo && one.file === file) ?? null;

/** How many go on or are to go on by themselves. */
export const selectGoingCount = (state: AppState) => goingOf(state.downloads.list ?? []).length;

export function goingOf(list: readonly Download[]): Download[] {
  return list.filter(({ state }) => ['queued', 'active', 'waiting', 'checking'].includes(state));
}
