/** What of an answer points into its documents, and where it leads. */
import { describe, expect, it, vi } from 'vitest';
import type { Section } from '../../../electron/shared/documents';
import { createElectronClient } from '../../../renderer/bridge/electronClient';
import { documentsAlong } from '../../../renderer/features/chat/answerSources';
import { citationsIn, namedNearest, quotesIn, targetsOf } from '../../../renderer/features/chat/citations';
import { citePlugin, type Node, readHref } from '../../../renderer/features/chat/citePlugin';
import { findQuote, squash } from '../../../renderer/state/citations/squash';
import { createApp } from '../../../renderer/state/store';
import { FakeServices } from './fakeServices';

const cited = (text: string) => citationsIn(text).flatMap(({ cites }) => cites ?? []);
const pages = (from: number, to = from) => ({ kind: 'pages', from, to });
const page = (number: number, start: number): Section => ({
  ...{ kind: 'page', label: `Page ${number}`, level: 0, start, end: start + 100 },
});

describe('citationsIn', () => {
  it('reads pages as people and models write them', () => {
    expect(cited('It is on page 12, see [Page 3] and p. 7.')).toEqual([pages(12), pages(3), pages(7)]);
    expect(cited('pages 3-4, pp. 5–6, Pages 7 and 8, [pages 9 to 10]')).toEqual([
      ...[pages(3, 4), pages(5, 6), pages(7, 8), pages(9, 10)],
    ]);
    expect(cited('a homepage 12, page twelve, step 4, page 1234567')).toEqual([]);
  });

  it('reads other marks by their words', () => {
    expect(cited('As [Lines 201-400] and [Early Years] say')).toEqual([
      { kind: 'mark', label: 'Lines 201-400' },
      { kind: 'mark', label: 'Early Years' },
    ]);
  });

  it('keeps every character of the text', () => {
    const text = 'On page 12: "the bridge was closed for the winter" [Page 12].';
    expect(
      citationsIn(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
  });

  it('reads quotations of some length, and is not led astray by short ones', () => {
    expect(
      quotesIn('A "short" word before "the true quotation of the document" and “curved marks around this one”.'),
    ).toEqual(['the true quotation of the document', 'curved marks around this one']);
    expect(quotesIn('5" pipes and 6" pipes are sold here')).toEqual([]);
  });
});

describe('targetsOf', () => {
  const documents = [
    { documentId: 'd1', name: 'report.pdf' },
    { documentId: 'd2', name: 'diary.pdf' },
  ];
  const sections = { d1: [page(1, 0), page(2, 100)], d2: [page(2, 0), page(3, 100)] };

  it('gives only pages that there are', () => {
    const targets = (number: number) =>
      targetsOf({ kind: 'pages', from: number, to: number }, documents, sections, {}).map(({ name, place }) => [
        name,
        place,
      ]);
    expect(targets(1)).toEqual([['report.pdf', { section: 0 }]]);
    expect(targets(2)).toEqual([
      ['report.pdf', { section: 1 }],
      ['diary.pdf', { section: 0 }],
    ]);
    expect(targets(9)).toEqual([]);
    expect(targetsOf({ kind: 'mark', label: 'page 3' }, documents, sections, {})).toHaveLength(1);
    expect(targetsOf({ kind: 'mark', label: 'to be done' }, documents, sections, {})).toEqual([]);
  });

  it('leads a quotation to its characters, and names the page', () => {
    const quotes = { words: { documentId: 'd2', start: 120, end: 125 } };
    expect(targetsOf({ kind: 'quote', words: 'words' }, documents, sections, quotes)).toEqual([
      { documentId: 'd2', name: 'diary.pdf', label: 'Page 3', place: { offset: 120, end: 125 } },
    ]);
    expect(targetsOf({ kind: 'quote', words: 'others' }, documents, sections, quotes)).toEqual([]);
  });

  it('takes the document that is named nearest', () => {
    const text = 'The report says so on page 2, and Diary.pdf on page 2.';
    const names = documents.map(({ name }) => name);
    expect(namedNearest(text, text.indexOf('page 2'), names)).toBe(0);
    expect(namedNearest(text, text.lastIndexOf('page 2'), names)).toBe(1);
    expect(namedNearest('on page 2', 3, names)).toBeNull();
  });
});

describe('documentsAlong', () => {
  it('adds up along a branch, and stays the same string where nothing is added', () => {
    const attachment = (documentId: string) => ({
      documentId,
      name: `${documentId}.pdf`,
      part: { kind: 'whole' as const },
    });
    const branch = [[], [attachment('a')], [], [attachment('a'), attachment('b')], []];
    const along = documentsAlong(branch.map((attachments) => ({ attachments })));
    expect(
      along.map((text) => (text === '' ? [] : JSON.parse(text).map(({ name }: { name: string }) => name))),
    ).toEqual([...[[], ['a.pdf'], ['a.pdf'], ['a.pdf', 'b.pdf'], ['a.pdf', 'b.pdf']]]);
  });
});

describe('citePlugin', () => {
  it('makes links in words, never in code or in other links', () => {
    const text = (value: string) => ({ type: 'text', value });
    const element = (tagName: string, ...children: Node[]): Node => ({ type: 'element', tagName, children });
    const tree: Node = {
      type: 'root',
      children: [element('p', text('See page 2 of '), element('code', text('page 3')), text(' in the diary.'))],
    };
    citePlugin({ names: ['report.pdf', 'diary.pdf'] })(tree);
    const parts = tree.children?.[0]?.children ?? [];
    expect(parts.map(({ tagName }) => tagName)).toEqual([undefined, 'a', undefined, 'code', undefined]);
    expect(readHref(parts[1]?.properties?.href as string)).toEqual({ cites: pages(2), named: 1 });
    expect(readHref('https://example.com')).toBeNull();
    expect(readHref('#cite:%7B')).toBeNull();
  });
});

describe('findQuote', () => {
  const text = 'The old bridge was closed for the win-\nter of 1911, and “nobody”\n  crossed it.';
  const found = (quote: string) => {
    const place = findQuote(text, squash(text), quote);
    return place && text.slice(place.start, place.end);
  };

  it('ignores line breaks, hyphenation, quotation marks, case and the last full stop', () => {
    expect(found('closed for the winter of 1911')).toBe('closed for the win-\nter of 1911');
    expect(found("and 'nobody' crossed it.")).toBe('and “nobody”\n  crossed it');
    expect(found('THE OLD BRIDGE WAS')).toBe('The old bridge was');
    expect(found('closed for the summer of 1911')).toBeNull();
    expect(found('...')).toBeNull();
  });
});

it('looks through the documents of an answer once, across the borders of its slices', async () => {
  const quote = 'a sentence that lies across the border of two slices';
  const body = `${'x'.repeat(199_980)} ${quote.toUpperCase()} ${'y'.repeat(1000)}`;
  const fake = new FakeServices();
  const call = vi.spyOn(fake, 'call').mockImplementation(async (name, input) => {
    const { start, end } = input as { start: number; end: number };
    const whole = { ...page(1, 0), end: body.length };
    return { ok: true, value: name === 'documents.text' ? { text: body.slice(start, end) } : [whole] };
  });
  const { actions, store } = createApp(createElectronClient(fake));
  await actions.citations.findQuotes('m1', ['d1'], [quote, 'a sentence that is in no document']);
  await actions.citations.findQuotes('m1', ['d1'], [quote]);
  expect(store.getState().citations.quotes).toEqual({
    m1: { [quote]: { documentId: 'd1', start: 199_981, end: 199_981 + quote.length } },
  });
  expect(call.mock.calls.map(([name]) => name)).toEqual(['documents.sections', 'documents.text', 'documents.text']);
});
