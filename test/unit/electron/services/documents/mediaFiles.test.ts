/** Images and sound that the model reads as they are: stored once, named in prompts, counted, refused, taken to another data folder. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DocumentJob } from '@/electron/contract/documents';
import { ConcertinaError } from '@/electron/contract/errors';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { limits } from '@/electron/contract/limits';
import { buildPrompt } from '@/electron/services/chats/promptBuilder';
import { importDocument } from '@/electron/services/documents/documentImport';
import { DocumentService } from '@/electron/services/documents/documentService';
import { DocumentCounts, DocumentTexts } from '@/electron/services/documents/documentTexts';
import { MediaFiles } from '@/electron/services/documents/mediaFiles';
import { PagePictures } from '@/electron/services/documents/pagePictures';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { png } from '@/test/engine/projector';
import { waiting } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const reader = resolve('test/fixtures/documents/fakeReader.mjs');
const wav = Buffer.from('RIFF----WAVEfmt and so on', 'latin1');

async function setUp(senses: { sees: boolean; hears: boolean } | null = { sees: true, hears: true }) {
  const folder = await temporaryFolder();
  const check = vi.fn(async (_path: string): Promise<unknown> => 16);
  const service = new DocumentService({
    folder: join(folder, 'documents'),
    openProcess: () => forkProcess(reader),
    folders: { cMaps: '', ocr: '', languages: '' },
    log: silentLogger,
    media: { senses: () => senses, check },
  });
  await service.load();
  onTestFinished(() => service.close());
  const engine = {
    countMedia: async (paths: string[]) => ({ tokens: paths.map(() => 16) }),
    countTexts: async (texts: string[]) => texts.map((text) => text.split(/\s+/).filter(Boolean).length),
    live: { senses: () => senses } as never,
    modelName: () => 'Tiny',
    loads: () => 1,
  };
  const pages = new PagePictures(service.store, () => forkProcess(reader), '');
  const media = new MediaFiles(service.store, pages, engine);
  async function ended(id: string | undefined): Promise<DocumentJob> {
    return vi.waitFor(() => {
      const job = service.jobs.get(id ?? '');
      if (!job || job.state === 'waiting' || job.state === 'reading') throw new Error(`still ${job?.state}`);
      return job;
    }, waiting);
  }
  async function attach(name: string, content: Buffer): Promise<DocumentJob> {
    await writeFile(join(folder, name), content);
    return ended(service.addPaths([join(folder, name)])[0]);
  }
  const leftovers = async () => (await readdir(join(folder, 'documents'))).filter((name) => name.startsWith('.'));
  return { folder, service, engine, media, check, ended, attach, leftovers };
}

const attached = (documentId: string, name: string, kind: 'image' | 'sound' = 'image'): Attachment => ({
  ...{ documentId, name, part: { kind } },
});

test('an image is stored as it is, once, and checked by the engine first', async () => {
  const { service, media, check, attach, leftovers } = await setUp();
  const { document } = await attach('photo.png', png(1));
  expect(document).toMatchObject({ name: 'photo.png', kind: 'image', characters: 0, sections: 0, original: true });
  expect(check).toHaveBeenCalledOnce();
  expect(await media.read(document?.id ?? '')).toEqual(png(1));
  expect((await attach('copy.png', png(1))).document).toMatchObject({ id: document?.id, name: 'copy.png' });
  expect((await attach('other.png', png(2))).document?.id).not.toBe(document?.id);
  expect((await attach('talk.wav', wav)).document).toMatchObject({ kind: 'sound' });
  check.mockRejectedValueOnce(new ConcertinaError('bad-request', 'An image or sound is damaged.'));
  const refused = await attach('damaged.png', png(3));
  expect(refused).toMatchObject({ state: 'failed', error: { message: 'An image or sound is damaged.' } });
  const large = await attach('large.png', Buffer.concat([png(4), Buffer.alloc(limits.maxMediaBytes)]));
  expect(large.error?.message).toMatch(/larger than 16 MB/);
  expect(await leftovers()).toEqual([]);
  await expect(media.read('a'.repeat(64))).rejects.toMatchObject({ code: 'not-found' });
  await expect(service.readAsText('a'.repeat(64))).rejects.toMatchObject({ code: 'not-found' });
});

test('for a model that does not see, or whose senses are not known, text is recognized; one that does not hear refuses sound', async () => {
  for (const senses of [{ sees: false, hears: false }, null]) {
    const { attach, check } = await setUp(senses);
    expect((await attach('photo.png', png(1))).document).toMatchObject({ kind: 'picture' });
    expect((await attach('talk.wav', wav)).error).toMatchObject({ message: expect.stringContaining('is sound') });
    expect(check).not.toHaveBeenCalled();
  }
});

test('the text of a stored image is a document of its own', async () => {
  const { service, attach, ended } = await setUp();
  const { document } = await attach('photo.png', png(1));
  const text = await ended(await service.readAsText(document?.id ?? ''));
  expect(text.document).toMatchObject({ name: 'photo.png', kind: 'picture' });
  expect(text.document?.id).not.toBe(document?.id);
});

test('in a prompt it stands behind the documents and before the words, with its name', async () => {
  const { service, media, attach } = await setUp();
  const { document } = await attach('photo.png', png(1));
  const id = document?.id ?? '';
  const blockOf = async () => '<document>\n\n';
  const whole: Attachment = { documentId: 'd', name: 'd.txt', part: { kind: 'whole' } };
  const question = { role: 'user' as const, text: 'What is it?', attachments: [attached(id, 'photo.png'), whole] };
  const mediaOf = (one: Attachment) => media.block(one);
  const [message] = await buildPrompt('', [question], blockOf, mediaOf);
  const path = await service.store.originalPath(id);
  const before = '<document>\n\n[photo.png]\n';
  expect(message).toEqual({
    ...{ role: 'user', content: `${before}\n\nWhat is it?`, media: [{ path, at: before.length }] },
    documents: [{ id: 'd', name: 'd.txt', end: '<document>\n\n'.length }],
  });
  // two questions in a row become one message
  const [both] = await buildPrompt('', [question, question], blockOf, mediaOf);
  expect(both?.media?.map(({ at }) => both.content.slice(0, at).endsWith('[photo.png]\n'))).toEqual([true, true]);
  expect(both?.media?.[1]?.at).toBeGreaterThan(before.length * 2);
  // what reads text alone says so
  const texts = new DocumentTexts(service.store);
  const alone = { ...question, attachments: [attached(id, 'photo.png')] };
  await expect(buildPrompt('', [alone], (one) => texts.block(one))).rejects.toThrow(/text alone is read/);
});

test('its tokens are its own and those of its name; a model without the sense refuses it by name', async () => {
  const { service, engine, media, attach } = await setUp();
  const { document } = await attach('photo.png', png(1));
  const counts = new DocumentCounts(new DocumentTexts(service.store), engine, media);
  expect(await counts.block(attached(document?.id ?? '', 'photo.png'))).toBe(17);
  const blind = await setUp({ sees: false, hears: true });
  const image = attached('a', 'photo.png');
  expect(() => blind.media.requireSensed([image])).toThrow('Tiny does not see photo.png.');
  expect(() => blind.media.requireSensed([attached('a', 'talk.wav', 'sound')])).not.toThrow();
  expect(() => media.requireSensed([image])).not.toThrow();
});

test('it goes along with an exported chat, and comes back as the same document', async () => {
  const { attach, media } = await setUp();
  const { document } = await attach('photo.png', png(1));
  if (!document) throw new Error('not attached');
  const file = (await media.read(document.id)).toString('base64');
  const elsewhere = await setUp();
  const exported = { document, sections: [], text: '', file };
  expect(await importDocument(elsewhere.service.store, exported)).toMatchObject({ id: document.id, name: 'photo.png' });
  expect(await readFile(await elsewhere.service.store.originalPath(document.id))).toEqual(png(1));
  expect(await elsewhere.leftovers()).toEqual([]);
  const empty = await setUp();
  await expect(importDocument(empty.service.store, { document, sections: [], text: '' })).rejects.toMatchObject({
    code: 'bad-request',
  });
});
