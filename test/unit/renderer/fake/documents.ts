/** The documents of the fake services: jobs that read until a test ends them, one text for all, what is stored. */
import type { Handlers } from '@/electron/contract/contract';
import { fakeDocument, fakeSections } from '../fakeData';
import type { FakeState } from './state';

export function documentHandlers(state: FakeState): Partial<Handlers> {
  /** A job that reads until `endJob`. */
  function read(name: string): string {
    const id = state.nextId('job');
    state.jobs.push({ id, name, state: 'reading', progress: 0.2, pages: null, document: null, error: null });
    state.emit('onDocumentJobs', state.jobs);
    return id;
  }

  return {
    'documents.jobs': async () => state.jobs,
    'documents.attachFromDialog': async () => [read('report.pdf')],
    'documents.addPaths': async ({ paths }) => paths.map((path) => read(path)),
    'documents.addText': async ({ name }) => read(name),
    'documents.get': async ({ documentId }) => fakeDocument({ id: documentId }),
    'documents.import': async ({ document }) => ({ ...document, id: `${document.id}-here` }),
    'documents.sections': async () => fakeSections(),
    'documents.search': async () => ({ passages: [{ start: 10, end: 14, label: 'Page 1', score: 2 }], all: 1 }),
    'documents.cancelSearch': async () => undefined,
    'documents.text': async ({ start, end }) => ({ text: '0123456789abcdefghij'.slice(start, end) }),
    'documents.usage': async () => state.usage,
    'documents.sweep': async () => {
      state.usage = { ...state.usage, unused: { count: 0, bytes: 0 } };
      return state.usage;
    },
  };
}
