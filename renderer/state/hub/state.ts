import type { ErrorPayload } from '../../../electron/contract/errors';
import type {
  CatalogueEntry,
  HubAccount,
  HubFit,
  HubModel,
  HubModelPage,
  HubSort,
} from '../../../electron/contract/hub';
import type { ContextSettings } from '../../../electron/contract/settings';

export type Outcome<T> = { ok: true; value: T } | { ok: false; error: ErrorPayload };

/** What the verdicts are about; the rest of the context settings is as saved. */
export type AskedContext = Pick<ContextSettings, 'nCtx' | 'typeK' | 'typeV'>;

export interface HubResults {
  query: string;
  sort: HubSort;
  models: HubModel[];
  /** null: there are no more */
  next: string | null;
}

export interface OpenPage {
  repo: string;
  /** null: being asked */
  outcome: Outcome<HubModelPage> | null;
  /** path of the file that the figures are about; null: none yet */
  file: string | null;
}

export interface HubState {
  /** what stands in the search field */
  query: string;
  sort: HubSort;
  searching: boolean;
  /** the next thirty are being asked for */
  asksMore: boolean;
  results: HubResults | null;
  /** why the last search has no answer */
  problem: ErrorPayload | null;
  /** null until it was read */
  catalogue: CatalogueEntry[] | null;
  page: OpenPage | null;
  /** null: as in the settings */
  asked: AskedContext | null;
  /** by `fitKey`; the last answer for each question */
  fits: Readonly<Record<string, Outcome<HubFit>>>;
  account: HubAccount | null;
}

export const initialHub: HubState = {
  query: '',
  sort: 'trending',
  searching: false,
  asksMore: false,
  results: null,
  problem: null,
  catalogue: null,
  page: null,
  asked: null,
  fits: {},
  account: null,
};
