/** Jobs and the store, with a process that does what its file says. The real one has test/unit/electron/workers/documents. */
import { mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DocumentInfo, type DocumentJob, sectionSchema } from '@/electron/contract/documents';
import { limits } from '@/electron/contract/limits';
import { sectionsPerSlice } from '@/electron/contract/workerTasks';
import { DocumentService } from '@/electron/services/documents/documentService';
import { DocumentUse } from '@/electron/services/documents/documentUse';
import { PagePictures } from '@/electron/services/documents/pagePictures';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { waiting } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const fakeReader = resolve('test/fixtures/documents/fakeReader.mjs');

async function setUp(options: { folder?: string; silenceMs?: number } = {}) {
  const folder = options.folder ?? (await temporaryFolder());
  const stored = join(folder, 'documents');
  const openProcess = () => forkProcess(fakeReader);
  const service = new DocumentService({
    ...options,
    folder: stored,
    openProcess,
    folders: { cMaps: '', ocr: '', languages: '' },
    log: silentLogger,
  });
  await service.load();
  onTestFinished(() => service.close());
  const reported: DocumentJob[] = [];
  service.jobs.changed.on((jobs) => reported.push(...jobs));

  async function file(name: string, content: string | Buffer): Promise<string> {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }
  async function ended(id: string | undefined): Promise<DocumentJob> {
    return vi.waitFor(() => {
      const job = service.jobs.get(id ?? '');
      if (!job || job.state === 'waiting' || job.state === 'reading') throw new Error(`still ${job?.state}`);
      return job;
    }, waiting);
  }
  async function attach(path: string): Promise<DocumentJob> {
    return ended(service.addPaths([path])[0]);
  }
  async function attached(path: string): Promise<DocumentInfo> {
    const job = await attach(path);
    if (!job.document) throw new Error(`${job.state}: ${job.error?.message}`);
    return job.document;
  }
  async function reading(id: string | undefined): Promise<void> {
    await vi.waitFor(() => expect(service.jobs.get(id ?? '')?.pages).not.toBeNull(), waiting);
  }
  const leftovers = async () => (await readdir(stored)).filter((name) => name.startsWith('.'));
  return { folder, stored, service, reported, file, attach, attached, ended, reading, leftovers };
}

/** Counts what is done, and the most of it in one turn of the event loop. */
function countInTurns() {
  const all = { checked: 0, stored: 0 };
  const turn = { checked: 0, stored: 0 };
  const most = { checked: 0, stored: 0 };
  const count = (what: keyof typeof all) => (more: number) => {
    all[what] += more;
    turn[what] += more;
    most[what] = Math.max(most[what], turn[what]);
  };
  let next = setImmediate(function begin() {
    Object.assign(turn, { checked: 0, stored: 0 });
    next = setImmediate(begin);
  });
  onTestFinished(() => clearImmediate(next));
  return { checked: count('checked'), stored: count('stored'), all: () => all, most: () => most };
}

describe('a document', () => {
  it('is extracted once, kept over a restart, and served in slices', async () => {
    const { folder, file, attached, service, reported, leftovers } = await setUp();
    const path = await file('notes.md', 'Äpfel 😀 and pears\n'.repeat(100));
    const document = await attached(path);
    expect(document).toMatchObject({ name: 'notes.md', kind: 'markdown', characters: 1900, pages: null, sections: 1 });
    expect(reported.map(({ state }) => state)).toEqual(expect.arrayContaining(['waiting', 'reading', 'done']));
    expect(await service.store.text(document.id, 6, 12)).toBe('😀 and');
    expect(await service.store.text(document.id, 1890, 5000)).toBe('and pears\n');
    expect(await service.store.text(document.id, 9000, 9001)).toBe('');

    const copy = await file('copy.md', await readFile(path));
    expect(await attached(copy)).toEqual({ ...document, name: 'copy.md' });
    await expect(readFile(`${copy}.runs`)).rejects.toThrow('ENOENT');
    // another kind is another text
    expect((await attached(await file('copy.txt', await readFile(path)))).id).not.toBe(document.id);
    expect(await leftovers()).toEqual([]);

    const again = await setUp({ folder });
    expect(await again.service.store.get(document.id)).toEqual(document);
    expect(await again.service.store.sections(document.id)).toEqual([expect.objectContaining({ label: 'markdown' })]);
  });

  it('of many sections is checked, stored and read in slices, between which the app gets on with its work', async () => {
    const { folder, file, attached } = await setUp();
    const path = await file('many.txt', 'many sections');
    const inTurn = countInTurns();
    const stringify = JSON.stringify;
    vi.spyOn(JSON, 'stringify').mockImplementation((value, ...rest) => {
      const sections = Array.isArray(value) ? value : value?.sections;
      if (Array.isArray(sections)) inTurn.stored(sections.length);
      return stringify(value, ...rest);
    });
    const check = sectionSchema._zod.run;
    vi.spyOn(sectionSchema._zod, 'run').mockImplementation((...input) => {
      inTurn.checked(1);
      return check(...input);
    });
    const { id, sections } = await attached(path);
    expect(sections).toBe(limits.maxDocumentSections);
    expect(inTurn.all()).toEqual({ checked: sections, stored: sections });
    const again = await setUp({ folder });
    expect(await again.service.store.sections(id)).toHaveLength(sections);
    expect(inTurn.all()).toEqual({ checked: 2 * sections, stored: sections });
    expect(inTurn.most()).toEqual({ checked: sectionsPerSlice, stored: sectionsPerSlice });
  });

  it('of a PDF has a copy of its file, counted and removed with it; a locked one and another kind have none', async () => {
    const { folder, stored, file, attached, ended, service, leftovers } = await setUp();
    const content = '%PDF-\n# Page 1\nThe lamp.\n# Page 2\nThe boat.';
    const path = await file('lamps.pdf', content);
    const document = await attached(path);
    expect(document.original).toBe(true);
    const copy = await service.store.originalPath(document.id);
    expect(await readFile(copy, 'utf8')).toBe(content);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    const size = (await service.store.sizes()).get(document.id) ?? 0;
    expect(size).toBeGreaterThan(2 * content.length);
    expect((await attached(await file('notes.md', 'Notes'))).original).toBe(false);

    // by an earlier version of the app, and after the copy was lost: the next one is kept
    await rm(copy);
    await expect(service.store.originalPath(document.id)).rejects.toMatchObject({ code: 'not-found' });
    expect((await attached(await file('again.pdf', content))).original).toBe(true);
    expect(await readFile(copy, 'utf8')).toBe(content);
    expect(await leftovers()).toEqual([]);
    const again = await setUp({ folder });
    expect((await again.service.store.get(document.id)).original).toBe(true);

    const [id] = service.addPaths([await file('locked.pdf', '%PDF-\nlocked')]);
    expect((await ended(id)).state).toBe('locked');
    service.unlock(id ?? '', 'sesame');
    expect((await ended(id)).document).toMatchObject({ characters: 6, original: false });

    expect((await again.service.store.sweep(new Set())) >= 1).toBe(true);
    expect(await readdir(stored)).not.toContain(document.id);
  });

  it('gives pictures of its pages, with the words that are marked on them, one for each asker', async () => {
    const { file, attached, service } = await setUp();
    const content = '%PDF-\n# Page 1\nThe lamp.\n# Page 2\nThe boat.\nIts oars.';
    const { id: documentId } = await attached(await file('lamps.pdf', content));
    const pictures = new PagePictures(service.store, () => forkProcess(fakeReader), '');
    onTestFinished(() => pictures.close());
    // a line before the first page makes a section of its own here
    const draw = async (sheet: number, place: { offset: number; end?: number } | null) => {
      const { png, width } = await pictures.draw({ documentId, sheet, width: 300, place });
      expect(width).toBe(300);
      return JSON.parse(Buffer.from(png, 'base64').toString());
    };
    expect(await draw(3, null)).toEqual({ sheet: 3, words: '' });
    const lamp = content.indexOf('lamp');
    expect(await draw(2, { offset: lamp, end: content.indexOf('oars') })).toEqual({ sheet: 2, words: 'lamp.\n' });
    expect(await draw(3, { offset: lamp, end: content.indexOf('oars') })).toMatchObject({
      words: '# Page 2\nThe boat.\nIts ',
    });
    expect(await draw(3, { offset: content.indexOf('boat') })).toEqual({ sheet: 3, words: 'boat.' });
    await expect(draw(4, null)).rejects.toMatchObject({ code: 'bad-request' });
    await expect(pictures.draw({ documentId: 'x', sheet: 1, width: 300, place: null })).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('that is being drawn makes room for the next picture of the same asker', async () => {
    const { file, attached, service } = await setUp();
    const pages = Array.from({ length: 9 }, (_, index) => `# Page ${index + 1}`).join('\n');
    const { id: documentId } = await attached(await file('lamps.pdf', `# %PDF-\n${pages}`));
    const pictures = new PagePictures(service.store, () => forkProcess(fakeReader), '');
    const ask = (sheet: number) => pictures.draw({ documentId, sheet, width: 300, place: null, asker: 'panel' });
    const never = ask(9);
    const copy = await service.store.originalPath(documentId);
    await vi.waitFor(() => readFile(`${copy}.pid`), waiting);
    const second = ask(1);
    await expect(never).rejects.toMatchObject({ code: 'cancelled' });
    expect((await second).width).toBe(300);
    const last = ask(9);
    await Promise.all([expect(last).rejects.toMatchObject({ code: 'cancelled' }), pictures.close()]);
  });

  it('that is damaged on disk is read again from the copy of its file', async () => {
    const { folder, stored, file, attached } = await setUp();
    const document = await attached(await file('lamps.pdf', '# %PDF-\nthe lamp is lit'));
    await rm(join(folder, 'lamps.pdf'));
    const at = (name: string) => join(stored, document.id, name);
    const words = await readFile(at('text.txt'), 'utf8');
    await writeFile(at('text.txt'), words.toUpperCase());
    const { service } = await setUp({ folder });
    await expect(service.store.get(document.id)).rejects.toMatchObject({
      message: expect.stringContaining('changed on the disk'),
    });
    await vi.waitFor(async () => expect(await service.store.text(document.id, 0, 999)).toBe(words), waiting);
    expect(await service.store.get(document.id)).toMatchObject({ id: document.id, name: 'lamps.pdf', original: true });
    // what was set aside goes when the new one is in its place
    await vi.waitFor(async () => expect(await readdir(stored)).toEqual([document.id]), waiting);
  });

  it('whose copy is damaged, too, stays aside', async () => {
    const { folder, stored, file, attached } = await setUp();
    const document = await attached(await file('lamps.pdf', '# %PDF-\nthe lamp is lit'));
    for (const name of ['text.txt', 'original']) await writeFile(join(stored, document.id, name), '# %PDF-\nother');
    const { service } = await setUp({ folder });
    await expect(service.store.get(document.id)).rejects.toMatchObject({ code: 'not-found' });
    await vi.waitFor(() => expect(service.jobs.list()).toMatchObject([{ state: 'failed' }]), waiting);
    expect(service.jobs.list()[0]?.error?.message).toContain('was changed, too');
    expect(await readdir(stored)).toEqual([`damaged-${document.id}`]);
    // what nobody uses goes with the others
    await service.store.sweep(new Set([document.id]));
    expect(await readdir(stored)).toHaveLength(1);
    await service.store.sweep(new Set());
    expect(await readdir(stored)).toEqual([]);
  });

  it('that is damaged on disk is set aside and made again', async () => {
    const { folder, stored, file, attached } = await setUp();
    const path = await file('a.txt', 'the words of it');
    const document = await attached(path);
    const at = (name: string) => join(stored, document.id, name);
    const damages = [
      () => writeFile(at('text.txt'), 'THE words of it'),
      () => truncate(at('text.txt'), 3),
      () => writeFile(at('meta.json'), '{"version":1'),
      () => writeFile(at('meta.json'), '{"version":0}'),
    ];
    for (const damage of damages) {
      await damage();
      const { service, attached: attachAgain } = await setUp({ folder });
      await expect(service.store.get(document.id)).rejects.toMatchObject({
        ...{ code: 'not-found', message: expect.stringContaining('changed on the disk') },
        hint: expect.stringContaining(`damaged-${document.id}`),
      });
      expect(await readdir(stored)).toEqual([`damaged-${document.id}`]);
      expect(await attachAgain(path)).toMatchObject({ id: document.id });
      expect(await service.store.text(document.id, 0, 99)).toBe('the words of it');
      expect(await readdir(stored)).toEqual([document.id]);
    }
  });

  it('that nobody uses goes with the sweep, but not in the run that attached it', async () => {
    const { folder, file, attached, service } = await setUp();
    const kept = await attached(await file('kept.txt', 'kept'));
    const unused = await attached(await file('unused.txt', 'unused'));
    expect(await service.store.sweep(new Set())).toBe(0);

    const { service: later, stored } = await setUp({ folder });
    const inUse = new Set([kept.id]);
    expect(await later.store.sweep(inUse, { before: Date.now() - 60_000 })).toBe(0);
    expect(await later.store.sweep(inUse, { only: new Set([kept.id]) })).toBe(0);
    expect(await later.store.sweep(inUse)).toBe(1);
    expect(await readdir(stored)).toEqual([kept.id]);
    await expect(later.store.text(unused.id, 0, 1)).rejects.toMatchObject({ code: 'not-found' });
    await expect(later.store.get('../../settings')).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('the texts of documents', () => {
  it('are counted on disk, with those that a sweep at the wish of a person frees', async () => {
    const { folder, file, attached } = await setUp();
    const kept = await attached(await file('kept.txt', 'kept'));
    const old = await attached(await file('old.txt', 'an old one'));
    await attached(await file('draft.txt', 'in a draft'));
    const log = join(folder, 'chat.jsonl');
    await writeFile(log, `{"attachments":[{"documentId":"${kept.id}"}]}`);
    const { service, stored } = await setUp({ folder });
    const lastWeek = new Date(Date.now() - 7 * 86_400_000);
    for (const { id } of [kept, old]) await utimes(join(stored, id), lastWeek, lastWeek);

    const use = new DocumentUse({ files: async () => [log] }, service.store, silentLogger);
    const before = await use.usage();
    expect(before).toMatchObject({ count: 3, unused: { count: 1 } });
    expect(before.bytes).toBe(await bytesIn(stored));
    const unused = { count: 0, bytes: 0 };
    expect(await use.sweepNow()).toEqual({ count: 2, bytes: before.bytes - before.unused.bytes, unused });
    expect(await readdir(stored)).not.toContain(old.id);
    const broken = new DocumentUse({ files: async () => [join(folder, 'none')] }, service.store, silentLogger);
    await expect(broken.sweepNow()).rejects.toMatchObject({ code: 'storage-failed' });
  });

  async function bytesIn(folder: string): Promise<number> {
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }
});

describe('a job', () => {
  it('waits for the one before it, and ends when it is canceled', async () => {
    const { folder, file, service, ended, reading, leftovers } = await setUp();
    const paths = await Promise.all(['slow', 'waiting', 'last'].map((name) => file(`${name}.txt`, name)));
    const ids = service.addPaths(paths);
    await reading(ids[0]);
    expect(service.jobs.list().map(({ state }) => state)).toEqual(['reading', 'waiting', 'waiting']);
    service.cancel(ids[1] ?? '');
    expect(service.jobs.get(ids[1] ?? '')?.state).toBe('cancelled');
    service.cancel(ids[0] ?? '');
    expect((await ended(ids[2])).state).toBe('done');
    expect(service.jobs.list().map(({ state, error }) => [state, error])).toEqual([
      ['cancelled', null],
      ['cancelled', null],
      ['done', null],
    ]);
    expect(await leftovers()).toEqual([]);
    // its process has ended, not only its job
    const pid = Number(await readFile(join(folder, 'slow.txt.pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    // it is over: nothing to cancel
    service.cancel(ids[2] ?? '');
    expect(service.jobs.get(ids[2] ?? '')?.state).toBe('done');
  });

  it('reports what went wrong with its process, and the next one has a new process', async () => {
    const { file, attach, attached, leftovers } = await setUp();
    const failures = {
      exit: ['document-invalid', /exit\.txt ended unexpectedly \(code 3\)/],
      throw: ['document-invalid', /ended unexpectedly \(a mistake of the library\)/],
      memory: ['document-unsupported', /memory\.txt is too large when it is unpacked: it takes more than the 450 MB/],
      killed: ['document-unsupported', /killed\.txt is too large when it is unpacked/],
      stalled: ['document-invalid', /stalled\.txt was given up: nothing of it could be read in 1 minute/],
      late: ['document-invalid', /late\.txt was given up: it was not read in 10 minutes/],
      refuse: ['document-unsupported', /^No\.$/],
      nonsense: ['document-invalid', /ended unexpectedly \(an answer that makes no sense\)/],
      gaps: ['document-invalid', /ended unexpectedly \(sections that do not fit its text\)/],
      short: ['document-invalid', /ended unexpectedly \(sections that do not fit its text\)/],
      'too many sections': ['document-invalid', /ended unexpectedly \(sections that do not fit its text\)/],
    };
    for (const [act, [code, message]] of Object.entries(failures)) {
      const { state, error } = await attach(await file(`${act}.txt`, act));
      expect({ state, code: error?.code }).toEqual({ state: 'failed', code });
      expect(error?.message).toMatch(message as RegExp);
    }
    expect(await attached(await file('good.txt', 'good'))).toMatchObject({ name: 'good.txt' });
    expect(await leftovers()).toEqual([]);
  });

  it('that is locked waits for its password, lets others be read, and keeps the password nowhere', async () => {
    const { folder, service, ended, file, reported, leftovers } = await setUp();
    const locked = await service.addText('locked.txt', 'locked');
    const [other] = service.addPaths([await file('other.txt', 'words')]);
    const refusal = { code: 'document-locked', message: 'locked.txt is protected by a password.' };
    expect(await ended(locked)).toMatchObject({ state: 'locked', document: null, error: refusal });
    expect((await ended(other)).state).toBe('done');
    expect(await leftovers()).toHaveLength(1);

    service.unlock(locked, 'swordfish');
    const wrong = { ...refusal, message: 'This password does not open locked.txt.' };
    expect(await ended(locked)).toMatchObject({ state: 'locked', error: wrong });
    service.unlock(locked, 'sesame');
    expect(service.jobs.get(locked)?.state).toBe('waiting');
    const { state, error, document } = await ended(locked);
    expect([state, error, document?.name]).toEqual(['done', null, 'locked.txt']);
    expect(await service.store.text(document?.id ?? '', 0, 99)).toBe('opened');
    service.unlock(locked, 'sesame');
    expect(service.jobs.get(locked)?.state).toBe('done');
    expect(await leftovers()).toEqual([]);
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const stored = names.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)));
    const kept = JSON.stringify(reported) + (await Promise.all(stored)).join('');
    expect(kept).not.toMatch(/swordfish|sesame/);
  });

  it('that is locked ends when it is canceled, when the app closes, or when there are too many', async () => {
    const { service, ended, leftovers } = await setUp();
    const [first, second] = [await service.addText('1.txt', 'locked'), await service.addText('2.txt', 'locked')];
    for (const id of [first, second]) await ended(id);
    service.cancel(first);
    expect(service.jobs.get(first)).toMatchObject({ state: 'cancelled', error: null });
    service.unlock(first, 'sesame');
    expect(service.jobs.get(first)?.state).toBe('cancelled');
    for (let number = 3; number <= 18; number++) await ended(await service.addText(`${number}.txt`, 'locked'));
    expect(service.jobs.get(second)?.state).toBe('cancelled');
    expect(service.jobs.list().filter(({ state }) => state === 'locked')).toHaveLength(16);
    await service.close();
    expect(service.jobs.list().filter(({ state }) => state === 'locked')).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  it('is given up when nothing of it can be read', async () => {
    const { file, attach } = await setUp({ silenceMs: 100 });
    const { state, error } = await attach(await file('silent.txt', 'silent'));
    expect([state, error?.message]).toEqual(['failed', expect.stringContaining('silent.txt was given up')]);
  });

  it('refuses what cannot be attached, with what to do instead', async () => {
    const { folder, file, attach } = await setUp();
    await mkdir(join(folder, 'pictures'));
    const large = await file('large.txt', '');
    await truncate(large, limits.maxDocumentBytes + 1);
    const refused = [
      [join(folder, 'missing.pdf'), /missing\.pdf/],
      [join(folder, 'pictures'), /^pictures .*folder/],
      [large, /^large\.txt .*300 MB/],
      [await file('b.xls', '\xd0\xcf'), /^b\.xls .*old Excel/],
      [await file('b.key', 'PK\x03\x04'), /^b\.key .*Keynote/],
      [await file('c.zip', 'PK\x03\x04'), /^c\.zip .*archive/],
    ] as const;
    for (const [path, message] of refused) {
      const { state, error } = await attach(path);
      expect({ state, ...error }).toMatchObject({ state: 'failed', message: expect.stringMatching(message) });
      expect(error?.hint).not.toBe('');
    }
  });

  it('knows what a file is by its beginning, or else by its name', async () => {
    const { file, attach } = await setUp();
    const files = {
      'a.txt': ['pdf', '%PDF-1.4 words'],
      'b.doc': ['rtf', '{\\rtf1 words}'],
      'c.zip': ['ods', 'PK\x03\x04..mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK'],
      'd.zip': ['epub', 'PK\x03\x04..mimetypeapplication/epub+zipPK'],
      'e.bin': ['pptx', 'PK\x03\x04..[Content_Types].xml..ppt/presentation.xml'],
      'f.xlsm': ['xlsx', 'PK\x03\x04'],
      'g.docx': ['docx', 'PK\x03\x04'],
      'h.eml': ['eml', 'From: a@example.com'],
      'i.txt': ['picture', 'GIF89a'],
    };
    for (const [name, [kind, content]] of Object.entries(files)) {
      expect((await attach(await file(name, content ?? ''))).document?.kind, name).toBe(kind);
    }
  });

  it('leaves nothing behind when the app closes', async () => {
    const { file, service, reading, leftovers } = await setUp();
    const [id] = service.addPaths([await file('slow.txt', 'slow'), await file('next.txt', 'next')]);
    await reading(id);
    await service.close();
    expect(service.jobs.list().map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect(await leftovers()).toEqual([]);
  });
});

describe('text without a file', () => {
  it('is attached when it is pasted, or sent by a browser in parts', async () => {
    const { service, ended, leftovers } = await setUp();
    const pasted = await ended(await service.addText('Pasted.csv', 'a,b\n1,2\n'));
    expect(pasted.document).toMatchObject({ name: 'Pasted.csv', kind: 'csv', bytes: 8 });
    const part = (uploadId: string | null, offset: number, text: string) => ({
      ...{ uploadId, name: 'sent.py', bytes: 11, offset },
      data: Buffer.from(text).toString('base64'),
    });
    const first = await service.upload(part(null, 0, 'print('));
    expect(first.jobId).toBeNull();
    await expect(service.upload(part(first.uploadId, 0, 'print('))).rejects.toMatchObject({ code: 'bad-request' });
    await expect(service.upload(part(first.uploadId, 6, 'too long'))).rejects.toMatchObject({ code: 'bad-request' });
    await expect(service.upload(part('unknown', 0, 'x'))).rejects.toMatchObject({ code: 'not-found' });
    const { jobId } = await service.upload(part(first.uploadId, 6, '"hi")'));
    const { document } = await ended(jobId ?? '');
    expect(document).toMatchObject({ name: 'sent.py', kind: 'code', bytes: 11 });
    expect(await service.store.text(document?.id ?? '', 0, 99)).toBe('print("hi")');
    expect(await leftovers()).toEqual([]);

    await service.upload(part(null, 0, 'never'));
    expect(await leftovers()).toHaveLength(1);
    await service.close();
    expect(await leftovers()).toEqual([]);
  });
});

describe('what a tool gave', () => {
  const signal = new AbortController().signal;

  it('is read like a file; what nothing reads is kept as it is, and no job is shown for it', async () => {
    const { service, stored, reported, leftovers } = await setUp();
    const text = await service.keep('echo result.txt', '# one\nwords', signal);
    expect(text).toMatchObject({ name: 'echo result.txt', kind: 'text', characters: 11 });
    expect(await service.store.text(text.id, 0, 5)).toBe('# one');
    const again = await service.keep('other.txt', '# one\nwords', signal);
    expect(again).toMatchObject({ id: text.id, name: 'other.txt' });
    const bytes = Buffer.from('PK\x03\x04 packed');
    const archive = await service.keep('a.zip', bytes, signal);
    expect(archive).toMatchObject({ name: 'a.zip', kind: 'file', bytes: bytes.length, characters: 0 });
    expect(await readFile(join(stored, archive.id, 'original'))).toEqual(bytes);
    // a file that ends whoever reads it, too
    expect(await service.keep('b.txt', 'killed', signal)).toMatchObject({ kind: 'file' });
    expect(reported).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  it('is given up at once when the call is canceled', async () => {
    const { service, leftovers } = await setUp();
    const stop = new AbortController();
    const slow = service.keep('a.txt', 'silent', stop.signal);
    stop.abort();
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' });
    await vi.waitFor(async () => expect(await leftovers()).toEqual([]), waiting);
  });
});
