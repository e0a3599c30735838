/** What becomes of a result that is too long for the context, or no text: nothing is lost, and the model is told what it is not given. */
import { expect, it, vi } from 'vitest';
import type { DocumentInfo } from '@/electron/contract/documents';
import { ConcertinaError } from '@/electron/contract/errors';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { silentLogger } from '@/electron/services/lib/logger';
import { ToolResults } from '@/electron/services/tools/toolResults';
import { documentInfo } from '@/test/fixtures/samples';

const png = Buffer.from('an image').toString('base64');
const about = { name: 'echo result.txt', question: 'Where is the harbor?', signal: new AbortController().signal };

interface SetUp {
  sees?: boolean;
  /** what the file turns out to be; an error: it cannot be stored */
  stored?: Partial<DocumentInfo> | Error;
  /** tokens of a whole document */
  whole?: number;
  contextSize?: number;
}

/** A result may have 400 tokens of four characters each. */
function setUp({ sees = false, stored = {}, whole = 1000, contextSize = 1600 }: SetUp = {}) {
  const keep = vi.fn(async (name: string, _content: string | Uint8Array, _signal: AbortSignal) => {
    if (stored instanceof Error) throw stored;
    return documentInfo({ id: `id of ${name}`, name, kind: 'text', characters: 5000, ...stored });
  });
  const choose = vi.fn(async (attachment: Attachment, _question: string, _most: number): Promise<Attachment> => {
    return { ...attachment, part: { kind: 'passages', passages: [{ start: 0, end: 9, label: 'Lines 1-9' }] } };
  });
  const results = new ToolResults({
    engine: {
      contextSize: () => contextSize,
      countTexts: async (texts) => texts.map(({ length }) => Math.ceil(length / 4)),
      live: { senses: () => ({ sees, hears: false }) } as never,
    },
    documents: { keep },
    counts: { block: async ({ part }) => (part.kind === 'passages' ? 20 : whole) },
    retrieval: { choose },
    settings: () => ({ documents: { retrievalTokens: 150 } }) as never,
    log: silentLogger,
  });
  const take = (text: string, files: { name: string; data: string }[] = [], signal = about.signal) =>
    results.take({ failed: false, text, files }, { ...about, signal });
  return { take, keep, choose };
}

it('what fits into a quarter of the context stays as it is', async () => {
  const { take, keep } = setUp();
  expect(await take('w'.repeat(1600))).toEqual({ result: 'w'.repeat(1600) });
  expect(keep).not.toHaveBeenCalled();
});

it('a longer text is kept as a document, of which the model gets passages for the question, and is told so', async () => {
  const { take, keep, choose } = setUp();
  const text = 'word '.repeat(1000);
  const { result, cutFrom, kept } = await take(text);
  expect(keep.mock.calls[0]?.slice(0, 2)).toEqual(['echo result.txt', text]);
  expect(cutFrom).toBe(5000);
  expect(result).toMatch(/too long for the context: 5000 characters.*"echo result.txt"/);
  expect(kept).toMatchObject([{ documentId: 'id of echo result.txt', part: { kind: 'passages' } }]);
  expect(choose.mock.calls[0]?.slice(1)).toEqual(['Where is the harbor?', 150]);
});

it('where it cannot be stored its beginning stays, in a quarter of the context, and that is said', async () => {
  const { take } = setUp({ stored: new ConcertinaError('storage-failed', 'The disk is full.') });
  const { result, cutFrom, kept } = await take('word '.repeat(2000));
  expect(kept).toBeUndefined();
  expect(cutFrom).toBe(10_000);
  expect(result).toMatch(/^word .*\[The result goes on: 10000 characters in all\.\]$/s);
  expect(result.length).toBeLessThan(1700);
});

it('in a context without room for a passage its beginning stays, and all of it is there for the person', async () => {
  const { result, kept } = await setUp({ contextSize: 400 }).take('word '.repeat(1000));
  expect(kept).toEqual([{ documentId: 'id of echo result.txt', name: 'echo result.txt', part: null }]);
  expect(result).toMatch(/^word .*5000 characters in all\. All of it is kept as the document "echo result\.txt"/s);
});

it('an image goes to a model that sees; another one is told that the person has it', async () => {
  const files = [{ name: 'image-1.png', data: png }];
  const image = { kind: 'image', characters: 0 } as const;
  const seeing = setUp({ sees: true, stored: image, whole: 100 });
  expect(await seeing.take('[image-1.png]', files)).toEqual({
    result: '[image-1.png]',
    kept: [{ documentId: 'id of image-1.png', name: 'image-1.png', part: { kind: 'image' } }],
  });
  expect(seeing.keep.mock.calls[0]?.[1]).toEqual(Buffer.from('an image'));
  const blind = await setUp({ stored: image, whole: 100 }).take('[image-1.png]', files);
  expect(blind.kept).toEqual([{ documentId: 'id of image-1.png', name: 'image-1.png', part: null }]);
  expect(blind.result).toBe(
    '[image-1.png]\nimage-1.png is kept for the user, who can open it. You are not given its content.',
  );
  // nor one that takes more than a result may
  expect((await setUp({ sees: true, stored: image }).take('', files)).kept?.[0]?.part).toBeNull();
});

it('a file that has a text is read, in the room that is left; others are kept for the person', async () => {
  const files = ['a.txt', 'b.txt'].map((name) => ({ name, data: png }));
  const { kept = [] } = await setUp({ whole: 300 }).take('', files);
  expect(kept.map(({ part }) => part?.kind)).toEqual(['whole', 'passages']);
  const archive = await setUp({ stored: { kind: 'file', characters: 0 } }).take('', [{ name: 'a.zip', data: png }]);
  expect(archive.kept).toMatchObject([{ name: 'a.zip', part: null }]);
  expect(archive.result).toContain('You are not given its content.');
  const lost = await setUp({ stored: new Error('no') }).take('', [{ name: 'a.zip', data: png }]);
  expect(lost).toEqual({ result: 'a.zip could not be kept, and is lost.' });
});

it('a call that is canceled while its result is stored has no result', async () => {
  const stop = new AbortController();
  const { take, keep } = setUp();
  keep.mockImplementation(async () => {
    stop.abort();
    throw new ConcertinaError('cancelled', 'No.');
  });
  await expect(take('word '.repeat(1000), [], stop.signal)).rejects.toMatchObject({ code: 'cancelled' });
});
