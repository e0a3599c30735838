import { describe, expect, it } from 'vitest';
import { type Attachment, type Message, releasedAlong } from '@/electron/contract/chats';
import { usedOf } from '@/renderer/features/chat/UserMessage';
import { partOf, tokensOf } from '@/renderer/features/documents/selection';
import type { AppState } from '@/renderer/state/appState';
import { blockAt, blocksOf, overlap, shownText, stretchesOf } from '@/renderer/state/lib/blocks';
import { selectCanRelease } from '@/renderer/state/lib/openChat';
import { hitOf, parseRanges, partsSent, partText, rangesText, sectionsIn } from '@/renderer/state/lib/partText';
import { documentInfo, message, pages } from '@/test/fixtures/samples';

describe('numbers of pages', () => {
  it('are read as people write them', () => {
    expect(parseRanges('3-5, 12', 60)).toEqual([2, 3, 4, 11]);
    expect(parseRanges(' 12; 3 – 4,3,', 60)).toEqual([2, 3, 11]);
    expect(parseRanges('', 60)).toEqual([]);
  });

  it.each(['0', '3-', '61', '5-3', 'a', '1-99999999999'])('are refused: %s', (text) =>
    expect(parseRanges(text, 60)).toBeNull(),
  );

  it('are written in the shortest way, and read back', () => {
    expect(rangesText([2, 3, 4, 11])).toBe('3-5, 12');
    expect(rangesText([])).toBe('');
    expect(parseRanges(rangesText([0, 2, 3, 59]), 60)).toEqual([0, 2, 3, 59]);
  });
});

describe('the text in blocks', () => {
  const line = 'A line of some fifty letters stands here again.\n';
  const text = line.repeat(700);
  const sections = [
    { kind: 'page' as const, label: 'Page 1', level: 0, start: 0, end: 100 },
    { kind: 'page' as const, label: 'Page 2', level: 0, start: 100, end: 100 },
    { kind: 'page' as const, label: 'Page 3', level: 0, start: 100, end: text.length },
  ];
  const blocks = blocksOf(sections);
  const shown = (source: string) =>
    blocks.map((block) => {
      const { end = 0 } = sections[block.section] ?? {};
      const read = source.slice(block.start, Math.min(end, block.end + overlap));
      return shownText(read, block, block.end >= end);
    });

  it('shows every character once, and cuts no line', () => {
    expect(shown(text).join('')).toBe(text);
    for (const block of shown(text).slice(2, -1)) expect(block.endsWith('\n')).toBe(true);
  });

  it('cuts somewhere when there is no blank, and loses nothing', () => {
    const dense = 'x'.repeat(text.length);
    expect(shown(dense).join('')).toBe(dense);
  });

  it('has a block for an empty page, and finds places', () => {
    expect(blocks.filter(({ first }) => first)).toHaveLength(3);
    expect(blockAt(blocks, { section: 2 })).toBe(2);
    expect(blocks[blockAt(blocks, { offset: 20_000 })]).toMatchObject({ section: 2, first: false });
    expect(blockAt(blocks, { offset: text.length + 5 })).toBe(blocks.length - 1);
  });

  it('of 300 million characters is shown in stretches that a browser can place', () => {
    const million = (count: number) => count * 1_000_000;
    const parts = [0, 1, 2].map((part) => ({
      ...{ kind: 'lines' as const, label: `Part ${part}`, level: 0 },
      ...{ start: million(100 * part), end: million(100 * (part + 1)) },
    }));
    const all = blocksOf(parts);
    const stretches = stretchesOf(all);
    expect(stretches.flat()).toEqual(all);
    expect(stretches.length).toBe(75);
    // a line of two letters and its end is 20 pixels high
    for (const stretch of stretches) {
      expect((((stretch.at(-1)?.end ?? 0) - (stretch[0]?.start ?? 0)) / 3) * 20).toBeLessThan(2 ** 25);
    }
    expect(stretchesOf(blocksOf([]))).toEqual([]);
  });
});

describe('what of a document is in the context', () => {
  it('is marked by section, also by the passages that touch it', () => {
    const passages = { kind: 'passages' as const, passages: [{ start: 1990, end: 2010, label: 'Page 1' }] };
    expect(sectionsIn([passages], pages)).toEqual(new Set([0, 1]));
    expect(sectionsIn([{ kind: 'sections', sections: [2] }, passages], pages)).toEqual(new Set([2, 0, 1]));
    expect(sectionsIn([{ kind: 'whole' }], pages).size).toBe(3);
  });

  it('is listed with its places when a question had parts of it', () => {
    const passages = [
      { start: 1990, end: 2010, label: 'Page 1' },
      { start: 10, end: 20, label: 'Page 1' },
    ];
    expect(usedOf({ kind: 'passages', passages }, pages)).toEqual([
      { label: 'Page 1 to Page 2', place: { offset: 1990, end: 2010 }, start: 1990 },
      { label: 'Page 1', place: { offset: 10, end: 20 }, start: 10 },
    ]);
    expect(usedOf({ kind: 'passages', passages }, [])[0]?.label).toBe('Page 1');
    expect(usedOf({ kind: 'sections', sections: [2] }, pages)).toMatchObject([{ label: 'Page 3' }]);
    expect(usedOf({ kind: 'whole' }, pages)).toEqual([]);
  });

  it('is told by its pages where they are few, and by their number where they are scattered', () => {
    const info = documentInfo({ pages: 60, sections: 60 });
    const sections = (...chosen: number[]) => partText({ kind: 'sections', sections: chosen }, info);
    expect(partText({ kind: 'whole' }, info)).toContain('60');
    expect(sections(2, 3, 4)).toMatch(/\b3-5$/);
    expect(sections(4)).toMatch(/\b5$/);
    expect(sections(...Array.from({ length: 20 }, (_, i) => i * 2))).toMatch(/^20\b/);
    const four = Array.from({ length: 4 }, (_, i) => ({ start: i, end: i + 1, label: '' }));
    expect(partText({ kind: 'passages', passages: four }, info)).toMatch(/^4\b/);
  });

  it('is the whole document when everything is chosen', () => {
    expect(partOf(new Set([2, 0, 1]), 3)).toEqual({ kind: 'whole' });
    expect(partOf(new Set([2, 0]), 3)).toEqual({ kind: 'sections', sections: [0, 2] });
    expect(tokensOf(new Set([0, 2]), [5, 6, 7])).toBe(12);
    expect(tokensOf(new Set([0]), null)).toBeNull();
  });
});

describe('passages that left the prompt', () => {
  const passages = (start: number) => ({ start, end: start + 100, label: '' });
  const ask = (start: number, more: Attachment[] = []) =>
    message({
      id: `question ${start}`,
      attachments: [
        { documentId: 'd1', name: 'a.pdf', part: { kind: 'passages', passages: [passages(start)] } },
        ...more,
      ],
    });
  const answer = (released?: number) => message({ id: 'answer', role: 'assistant', ...(released && { released }) });
  const whole: Attachment = { documentId: 'd1', name: 'a.pdf', part: { kind: 'sections', sections: [2] } };
  const byParts = { ...ask(5), summary: { kind: 'summary' as const, parts: [] } };
  const branch = [ask(0, [whole]), answer(), byParts, answer(), ask(2000), answer(1), ask(10), answer(1)];

  it('are marked at their question, and said once, by the answer that they left for', () => {
    expect(releasedAlong(branch)).toEqual([1, 0, 0, 0, 0, 1, 0, 0]);
    expect(releasedAlong([...branch, answer(3)])).toEqual([1, 0, 0, 0, 1, 1, 1, 0, 2]);
    expect(releasedAlong(branch.slice(0, 5))).toEqual([0, 0, 0, 0, 0]);
  });

  it('are not what the model has of a document; pages that were chosen stay', () => {
    expect(partsSent(branch, 'd1')).toEqual([whole.part, ask(2000).attachments[0]?.part, ask(10).attachments[0]?.part]);
    expect([...sectionsIn(partsSent(branch.slice(0, 6), 'd1'), pages)]).toEqual([2, 1]);
  });

  it('can be let go for an answer that filled the context, while some are left', () => {
    const state = (messages: Message[]) => {
      const linked = messages.map((one, i) => ({ ...one, parentId: messages[i - 1]?.id ?? null }));
      return { conversation: { chat: { messages: linked } } } as unknown as AppState;
    };
    const last = (messages: Message[]) => selectCanRelease(messages.at(-1)?.id ?? '')(state(messages));
    expect(last([ask(0), answer(), ask(10), answer()])).toBe(true);
    expect(last([ask(0), answer(), ask(10), answer(1)])).toBe(false);
    // those of its own question stay
    expect(last([ask(0), answer()])).toBe(false);
  });
});

describe('a passage that was found', () => {
  const sections = [0, 100, 200].map((start, index) => {
    return { kind: 'page' as const, label: `Page ${index + 1}`, level: 0, start, end: start + 100 };
  });
  const passage = {
    start: 20,
    end: 220,
    label: 'Page 1',
    score: 1,
    text: `${'x '.repeat(60)}a LAMP burned${'.'.repeat(67)}`,
  };

  it('names the page of its words, not the one where it begins', () => {
    expect(hitOf(passage, 'lamp zebra', sections)).toMatchObject({ label: 'Page 2', at: 122 });
    expect(hitOf(passage, 'lamp', sections).text).toContain('a LAMP burned');
  });

  it('names its beginning while the pages are not known', () =>
    expect(hitOf(passage, 'lamp', null).label).toBe('Page 1'));
});
