/** What the model in use cannot read of a chat and its draft, in words, and what is chosen for an image at first. */
import { expect, test } from 'vitest';
import type { DocumentJob } from '@/electron/contract/documents';
import type { Attachment } from '@/electron/contract/lib/attachments';
import type { DraftDocument } from '@/renderer/state/appState';
import { draftDocument, settleDocuments } from '@/renderer/state/lib/attach';
import { beyondOf, questionHint } from '@/renderer/state/lib/media';
import { documentInfo, message } from '@/test/fixtures/samples';

const attached = (name: string, kind: 'image' | 'sound'): Attachment => ({ documentId: name, name, part: { kind } });
const draft = (name: string, kind: 'image' | 'sound') =>
  draftDocument({ name, origin: { kind: 'stored' }, info: documentInfo({ id: name, name, kind }), part: { kind } });

function beyond(
  senses: { sees: boolean; hears: boolean },
  documents: DraftDocument[],
  sent: Attachment[] = [],
): string | null {
  const chat = { messages: [message({ id: 'q', attachments: sent })], leafId: 'q' };
  return beyondOf('Tiny', senses, chat, documents);
}

const blind = { sees: false, hears: false };
const seeing = { sees: true, hears: false };

test('what of a draft the model cannot read is named, with the ways out', () => {
  const photo = draft('photo.png', 'image');
  expect(beyond(blind, [photo])).toBe(
    'Tiny does not see photo.png. Have it read as text, remove it, or choose a model that sees',
  );
  expect(beyond(seeing, [photo])).toBeNull();
  expect(beyond(seeing, [photo, draft('talk.wav', 'sound')])).toBe(
    'Tiny does not hear talk.wav. Remove it, or choose a model that hears',
  );
});

test('an image of an earlier question cannot be taken back: the chat needs another model, or another chat', () => {
  const sent = [attached('photo.png', 'image')];
  expect(beyond(blind, [], sent)).toBe(
    'Tiny does not see photo.png, which this chat has. Choose a model that does, or start a new chat',
  );
  expect(beyond(seeing, [], sent)).toBeNull();
  expect(beyond(blind, [])).toBeNull();
});

test('an image that has been read goes as an image, and a choice that was made before stays', () => {
  const job: DocumentJob = {
    ...{ id: 'j', name: 'a', state: 'done', progress: 1, pages: null, error: null },
    document: documentInfo({ kind: 'image' }),
  };
  const waiting = draftDocument({ name: 'a', origin: { kind: 'dialog' }, jobId: 'j' });
  const partAfter = (document: DraftDocument, done = job) =>
    settleDocuments({ new: { text: '', documents: [document] } }, [done]).new?.documents[0]?.part;
  expect(partAfter(waiting)).toEqual({ kind: 'image' });
  expect(partAfter(waiting, { ...job, document: documentInfo() })).toEqual({ kind: 'whole' });
  const passages = { kind: 'passages' as const, passages: [] };
  expect(partAfter({ ...waiting, part: passages })).toEqual(passages);
});

test('a question is about what is attached', () => {
  expect(questionHint([{ part: { kind: 'image' } }])).toBe('image');
  expect(questionHint([{ part: { kind: 'sound' } }])).toBe('sound');
  expect(questionHint([{ part: { kind: 'image' } }, { part: { kind: 'whole' } }])).toBe('text');
});
