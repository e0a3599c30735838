import type { EventPayload, OperationInput } from '../../../electron/contract/contract';
import type { DocumentInfo, DocumentJob, PagePicture, SearchModel } from '../../../electron/contract/documents';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState, DraftDocument, Found, Outcome, Panel, Place, TokenCount } from '../appState';
import { createAttachActions, settleDocuments } from '../lib/attach';
import { selectDraftOfOpenChat } from '../lib/openChat';
import { outcomeOf, type Tools } from '../slice';

/** passages of one search */
const hits = 20;
/** pictures of pages, some megabytes each */
const picturesKept = 8;
/** images of questions */
const imagesKept = 24;

export function createDocumentsActions(tools: Tools) {
  const { client, get, patch, report } = tools;
  // another window may search at the same time
  const asker = `document-${Math.random().toString(36).slice(2)}`;

  const pictures = new Map<string, Promise<Outcome<PagePicture>>>();
  const images = new Map<string, Promise<string | null>>();
  /** how the person reads documents */
  let reading: 'text' | 'page' = 'text';

  function know(info: DocumentInfo): void {
    patch('documents', { infos: { ...get().documents.infos, [info.id]: info } });
  }

  function receiveJobs(jobs: DocumentJob[]): void {
    const fresh = jobs.flatMap(({ document }) => (document && !get().documents.infos[document.id] ? document : []));
    patch('documents', { jobs });
    for (const info of fresh) know(info);
    const { drafts } = get().conversation;
    const settled = settleDocuments(drafts, jobs);
    if (settled !== drafts) patch('conversation', { drafts: settled });
  }

  /** The best first, with their words; null: it could not be searched. `query`: at most 1,000 characters. */
  async function search(documentId: string, query: string): Promise<Found | null> {
    patch('documents', { searched: null });
    try {
      const { passages, ...more } = await client.call('documents.search', { documentId, query, limit: hits, asker });
      const withText = passages.map(async (passage) => ({
        ...passage,
        text: await readText(documentId, passage.start, passage.end),
      }));
      return { passages: await Promise.all(withText), ...more };
    } catch {
      return null;
    }
  }

  /** Nobody waits for the search any more. */
  function endSearch(): void {
    patch('documents', { searched: null });
    void client.call('documents.cancelSearch', { asker }).catch(() => undefined);
  }

  function receiveProgress(progress: EventPayload<'onSearch'>): void {
    if (progress.asker === asker) patch('documents', { searched: progress.fraction });
  }

  /** Characters `start` to `end`; rejects when the text is not there any more. */
  async function readText(documentId: string, start: number, end: number): Promise<string> {
    return (await client.call('documents.text', { documentId, start, end })).text;
  }

  /** Never rejects; `cancelled`: another page was asked for meanwhile. */
  function page(question: Omit<OperationInput<'documents.page'>, 'asker'>): Promise<Outcome<PagePicture>> {
    const key = JSON.stringify(question);
    const picture = pictures.get(key) ?? outcomeOf(client.call('documents.page', { ...question, asker }));
    // the one that was looked at last is the last
    pictures.delete(key);
    pictures.set(key, picture);
    for (const oldest of [...pictures.keys()].slice(0, -picturesKept)) pictures.delete(oldest);
    void picture.then(({ ok }) => {
      if (!ok && pictures.get(key) === picture) pictures.delete(key);
    });
    return picture;
  }

  /** As `src` of an image; null: it is not stored any more. */
  function image(documentId: string): Promise<string | null> {
    const found =
      images.get(documentId) ??
      client.call('documents.file', { documentId }).then(
        // what kind of image it is, the browser sees by its bytes
        ({ data }) => `data:image/png;base64,${data}`,
        () => {
          images.delete(documentId);
          return null;
        },
      );
    images.delete(documentId);
    images.set(documentId, found);
    for (const oldest of [...images.keys()].slice(0, -imagesKept)) images.delete(oldest);
    return found;
  }

  /** Its bytes; null: they are not there any more, and that is said. */
  async function file(documentId: string): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const { data } = await client.call('documents.file', { documentId });
      return Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
    } catch (error) {
      report(error);
      return null;
    }
  }

  /** What the panel shows of a document apart from its text. */
  async function load(documentId: string): Promise<void> {
    patch('documents', { panelError: null });
    try {
      know(await client.call('documents.get', { documentId }));
      const { sections } = get().documents;
      if (sections[documentId]) return;
      const found = await client.call('documents.sections', { documentId });
      patch('documents', { sections: { ...get().documents.sections, [documentId]: found } });
    } catch (error) {
      if (get().documents.panel?.documentId === documentId) patch('documents', { panelError: errorPayloadOf(error) });
    }
  }

  async function learn(documentId: string): Promise<void> {
    if (get().documents.infos[documentId]) return;
    await client.call('documents.get', { documentId }).then(know, () => undefined);
  }

  function show(documentId: string, view: Panel['view'], place: Place | null): void {
    const asked = (get().documents.panel?.asked ?? 0) + 1;
    patch('documents', { panel: { documentId, view, place, left: null, asked } });
    // the one pane on the right: what was asked for last is seen
    patch('ui', { settingsOpen: false });
    void load(documentId);
  }

  async function count(documentId: string, modelId: string | null): Promise<void> {
    if (get().documents.tokens[documentId]?.modelId === modelId) return;
    try {
      const counted = await client.call('documents.countTokens', { documentId });
      patch('documents', { tokens: { ...get().documents.tokens, [documentId]: { modelId, ...counted } } });
    } catch {
      // the panel shows the text all the same; it counts again when it is reopened
    }
  }

  /** Tokens of the first page as an image; null: it could not be drawn or counted. */
  async function countPage(documentId: string): Promise<number | null> {
    const part = { kind: 'image' as const, pages: [1] };
    const counted = await client.call('documents.countTokens', { documentId, part }).catch(() => null);
    return counted?.tokens ?? null;
  }

  return {
    ...createAttachActions(tools),
    receiveJobs,
    /** Shows a document beside the chat, at a section or a character of its text: the text, or the page if that was chosen last. */
    openAt: (documentId: string, place: Place | null = null) => show(documentId, reading, place),
    /** Shows the list of its pages or headings, to choose from. */
    openParts: (documentId: string) => show(documentId, 'parts', null),
    setView: (view: Panel['view']) => {
      const { panel } = get().documents;
      if (view !== 'parts') reading = view;
      // text and page show the same place
      const stays = panel && view !== 'parts' && panel.view !== 'parts';
      if (panel) patch('documents', { panel: { ...panel, view, ...(!stays && { place: null, left: null }) } });
    },
    /** The person goes to a section by themselves; the other views show it, too. `asked`: what they were shown before. */
    goTo: (documentId: string, asked: number, section: number) => {
      const { panel } = get().documents;
      if (panel?.documentId === documentId && panel.asked === asked) {
        patch('documents', { panel: { ...panel, left: section } });
      }
    },
    count,
    load,
    /** Facts of a document that a sent question names; without them it is shown by its name alone. */
    learn,
    close: () => patch('documents', { panel: null }),
    receiveSearchModel: (searchModel: SearchModel) => patch('documents', { searchModel }),
    cancelReading: (documentId: string) => void client.call('documents.cancelReading', { documentId }).catch(report),
    readForSearch: (documentId: string) => void client.call('documents.readForSearch', { documentId }).catch(report),
    search,
    endSearch,
    receiveProgress,
    readText,
    page,
    image,
    file,
    countPage,
  };
}

export const selectPanel = (state: AppState) => state.documents.panel;
export const selectSearchModel = (state: AppState) => state.documents.searchModel;
export const selectSearched = (state: AppState) => state.documents.searched;
export const selectPanelError = (state: AppState) => state.documents.panelError;
export const selectDraftDocuments = (state: AppState): readonly DraftDocument[] =>
  selectDraftOfOpenChat(state).documents;

export function selectJob(jobId: string | null) {
  return (state: AppState): DocumentJob | null => state.documents.jobs.find(({ id }) => id === jobId) ?? null;
}

/** The name of the first document of the question that waits for its password; null: none does. */
export function selectLocked(state: AppState): string | null {
  const waits = new Set(state.documents.jobs.flatMap(({ id, state: now }) => (now === 'locked' ? id : [])));
  return selectDraftDocuments(state).find(({ jobId }) => jobId !== null && waits.has(jobId))?.name ?? null;
}

export function selectInfo(documentId: string) {
  return (state: AppState) => state.documents.infos[documentId] ?? null;
}

export function selectSections(documentId: string) {
  return (state: AppState) => state.documents.sections[documentId] ?? null;
}

/** null: not counted by the loaded model */
export function selectTokens(documentId: string) {
  return (state: AppState): TokenCount | null => {
    const count = state.documents.tokens[documentId];
    return count && count.modelId === state.engine.status?.modelId ? count : null;
  };
}

/** The card of this document in the draft of the open chat; null: it is in none. */
export function selectInDraft(documentId: string) {
  return (state: AppState) => selectDraftDocuments(state).find(({ info }) => info?.id === documentId) ?? null;
}
