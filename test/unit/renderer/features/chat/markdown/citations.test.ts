/** What of an answer points into its documents, where it leads, and quotations in the stored texts. */
import { describe, expect, it, vi } from 'vitest';
import { type Chat, chatSchema } from '@/electron/contract/chats';
import type { Section } from '@/electron/contract/documents';
import { documentsAlong } from '@/renderer/features/chat/markdown/answerSources';
import {
  citationsIn,
  doubtfulWords,
  doubtText,
  namedNearest,
  targetsOf,
} from '@/renderer/features/chat/markdown/citations';
import { citePlugin, type Node, readHref } from '@/renderer/features/chat/markdown/citePlugin';
import { openWindow } from '@/test/fixtures/renderer/window';
import { message } from '@/test/fixtures/samples';
import { attach, waiting } from '@/test/fixtures/services';

const cited = (text: string) => citationsIn(text).flatMap(({ cites }) => cites ?? []);
const pages = (number: number | string) => ({ kind: 'page', unit: 'page', number: String(number) });
const sheet = (number: number) => ({ ...pages(number), unit: 'sheet' });
const page = (number: number, start: number): Section => ({
  ...{ kind: 'page', label: `Page ${number}`, level: 0, start, end: start + 100 },
});

describe('citationsIn', () => {
  it('reads pages in German, and as Romance languages call them', () => {
    expect(cited('Es steht auf Seite 12, siehe S. 7, Seiten 3 bis 5 und S. 8–9.')).toEqual([12, 7, 3, 8].map(pages));
    expect(cited('Blatt 4, Folie 6, [Seite 3]')).toEqual([sheet(4), { ...pages(6), unit: 'slide' }, pages(3)]);
    expect(cited('la página 5, pág. 6, a pagina 7')).toEqual([5, 6, 7].map(pages));
    expect(cited('Die Vorderseite 12, it’s. 5 of them, Folge 3')).toEqual([]);
  });

  it('reads pages and other marks as people and models write them', () => {
    expect(cited('It is on page 12, see [Page 3] and p. 7.')).toEqual([pages(12), pages(3), pages(7)]);
    const ranges = [pages(3), pages(5), pages(7), pages(9)];
    expect(cited('pages 3-4, pp. 5–6, Pages 7 and 8, [pages 9 to 10]')).toEqual(ranges);
    expect(citationsIn('On pages 7 and 8.')[1]?.text).toBe('pages 7 and 8');
    expect(cited('page iv, p. A-3, pp. xii, [Page B2]')).toEqual(['iv', 'A-3', 'xii', 'B2'].map(pages));
    expect(cited('[Page 33 (sheet 39)], [Page iv, sheet 4], sheet 5, [Sheet 6]')).toEqual([39, 4, 5, 6].map(sheet));
    expect(cited('[report.pdf, page 33], [diary.pdf: p. 4], [see (Page 5)]')).toEqual([33, 4, 5].map(pages));
    expect(cited('[homepage 12], [the pages]')).toEqual(
      ['homepage 12', 'the pages'].map((label) => ({ kind: 'mark', label })),
    );
    expect(cited('pages did not, the page mentions, page ideas')).toEqual([]);
    expect(cited('a homepage 12, page twelve, step 4, page 1234567')).toEqual([]);
    expect(cited('As [Lines 201-400] and [Early Years] say')).toEqual([
      { kind: 'mark', label: 'Lines 201-400' },
      { kind: 'mark', label: 'Early Years' },
    ]);
  });

  it('keeps every character of the text', () => {
    const text = 'On page 12: "the bridge was closed for the winter" [Page 12].';
    const pieces = citationsIn(text).map((piece) => piece.text);
    expect(pieces.join('')).toBe(text);
  });

  it('reads quotations of some length, and is not led astray by short ones', () => {
    const quote = (words: string) => ({ kind: 'quote', words });
    expect(
      cited('A "short" word before "the true quotation of the document" and “curved marks around this one”.'),
    ).toEqual([quote('the true quotation of the document'), quote('curved marks around this one')]);
    expect(cited('5" pipes and 6" pipes are sold here')).toEqual([]);
    expect(cited('“short” words that stand between the two “others” here')).toEqual([]);
    expect(cited('Sie sagt „die alte Brücke war gesperrt“, er « le vieux pont était fermé ».')).toEqual([
      quote('die alte Brücke war gesperrt'),
      quote(' le vieux pont était fermé '),
    ]);
    expect(cited('»Kurz« und danach steht »die alte Brücke war gesperrt« da')).toEqual([
      quote('die alte Brücke war gesperrt'),
    ]);
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
      targetsOf({ kind: 'page', unit: 'page', number: String(number) }, documents, sections, {}).map(
        ({ name, place }) => [name, place],
      );
    expect(targets(1)).toEqual([['report.pdf', { section: 0 }]]);
    expect(targets(2)).toEqual([
      ['report.pdf', { section: 1 }],
      ['diary.pdf', { section: 0 }],
    ]);
    expect(targets(9)).toEqual([]);
    expect(targetsOf({ kind: 'mark', label: 'page 3' }, documents, sections, {})).toHaveLength(1);
    expect(targetsOf({ kind: 'mark', label: 'to be done' }, documents, sections, {})).toEqual([]);
  });

  it('finds a page by the number that is printed on it, and else by its sheet', () => {
    const labels = [
      'Page i (sheet 1)',
      'Sheet 2',
      'Page 1 (sheet 3)',
      'Page 4',
      'Page 5 (sheet 5)',
      'Page 1 (sheet 6)',
    ];
    const printed = labels.map((label, index): Section => ({ ...page(0, index * 100), label }));
    const heading: Section = { ...page(0, 600), kind: 'heading', label: 'Page 7' };
    const known = { d1: [...printed, heading] };
    const place = (text: string) =>
      targetsOf(cited(text)[0] ?? { kind: 'mark', label: '' }, documents, known, {}).map((target) => target.place);
    const leads = ['page I', 'page 1', 'page 4', '[Page 5]', '[Page 1 (sheet 6)]', 'sheet 6', 'sheet 4', '[Sheet 2]'];
    expect(leads.map(place)).toEqual([0, 2, 3, 4, 5, 5, 3, 1].map((section) => [{ section }]));
    // printed on no page
    expect(place('page 6')).toEqual([{ section: 5 }]);
    expect([place('page 7'), place('page 8'), place('page v')]).toEqual([[], [], []]);
    expect(place('[Page 7]')).toEqual([]);
  });

  it('leads a quotation to its characters, and names the page', () => {
    const quotes = { words: { documentId: 'd2', start: 120, end: 125 } };
    expect(targetsOf({ kind: 'quote', words: 'words' }, documents, sections, quotes)).toEqual([
      { documentId: 'd2', name: 'diary.pdf', label: 'Page 3', place: { offset: 120, end: 125 } },
    ]);
    expect(targetsOf({ kind: 'quote', words: 'others' }, documents, sections, quotes)).toEqual([]);
  });

  it('says of a page or a sentence that none of the documents has it, where that can be known', () => {
    const one = documents.slice(0, 1);
    const doubt = (text: string, among: typeof documents, known: Record<string, Section[]> = sections) => {
      const [cites] = cited(text);
      const words = cites && doubtfulWords(cites, text, among, known);
      return cites && words ? [words, doubtText(cites, among)] : null;
    };
    expect(doubt('page 300', one)).toEqual(['page 300', 'report.pdf has no page 300']);
    expect(doubt('[Page 300]', documents)).toEqual(['[Page 300]', 'No attached document has a page 300']);
    expect(doubt('[Sheet 300]', one)).toEqual(['[Sheet 300]', 'report.pdf has no sheet 300']);
    const invented = 'The old bridge was never closed.';
    expect(doubt(`"${invented}"`, one)).toEqual([invented, 'Not in report.pdf']);
    expect(doubt(`"${invented}"`, documents)).toEqual([invented, 'Not in any attached document']);
    // a slide deck is often a PDF; "page I" begins a sentence; a name; a document without pages, or whose pages are not known
    expect(doubt('slide 300', one)).toBeNull();
    expect(doubt('page I', one)).toBeNull();
    expect(doubt('"The Art of Computer Programming"', one)).toBeNull();
    expect(doubt('[Old Introduction]', one)).toBeNull();
    expect(doubt('page 300', documents, { ...sections, d2: [{ ...page(1, 0), kind: 'heading' }] })).toBeNull();
    expect(doubt('page 300', documents, { d1: sections.d1 })).toBeNull();
  });

  it('takes the document that is named nearest', () => {
    const text = 'The report says so on page 2, and Diary.pdf on page 2.';
    const names = documents.map(({ name }) => name);
    expect(namedNearest(text, text.indexOf('page 2'), names)).toBe(0);
    expect(namedNearest(text, text.lastIndexOf('page 2'), names)).toBe(1);
    expect(namedNearest('on page 2', 3, names)).toBeNull();
  });
});

it('documentsAlong adds up along a branch, and stays the same string where nothing is added', () => {
  const attachment = (documentId: string) => ({
    documentId,
    name: `${documentId}.pdf`,
    part: { kind: 'whole' as const },
  });
  const branch = [[], [attachment('a')], [], [attachment('a'), attachment('b')], []];
  const along = documentsAlong(branch.map((attachments) => ({ attachments })));
  expect(along.map((text) => (text === '' ? [] : JSON.parse(text).map(({ name }: { name: string }) => name)))).toEqual([
    ...[[], ['a.pdf'], ['a.pdf'], ['a.pdf', 'b.pdf'], ['a.pdf', 'b.pdf']],
  ]);
});

describe('citePlugin', () => {
  const text = (value: string): Node => ({ type: 'text', value });
  const element = (tagName: string, ...children: Node[]): Node => ({ type: 'element', tagName, children });
  /** What stands inside of links of ours, with what each cites; other nodes by their tags. */
  function linksIn(...children: Node[]) {
    const tree = element('root', element('p', ...children));
    citePlugin({ names: ['report.pdf', 'diary.pdf'] })(tree);
    const links: { cites: unknown; named: number | null; shown: string }[] = [];
    const shown = (node: Node): string => {
      const inner = node.value ?? (node.children ?? []).map(shown).join('');
      const read = readHref(node.properties?.href as string | undefined);
      if (read) links.push({ ...read, shown: inner });
      return node.tagName && !read ? `<${node.tagName}>${inner}</${node.tagName}>` : inner;
    };
    return { all: shown(tree), links };
  }
  const quote = (words: string, shown: string) => ({ cites: { kind: 'quote', words }, named: null, shown });

  it('makes links in words, never in code or in other links', () => {
    const { all, links } = linksIn(
      ...[text('See page 2 of '), element('code', text('page 3'))],
      ...[text(' in the diary, '), element('a', text('page 4'))],
    );
    expect(all).toBe('<root><p>See page 2 of <code>page 3</code> in the diary, <a>page 4</a></p></root>');
    expect(links).toEqual([{ cites: pages(2), named: 1, shown: 'page 2' }]);
    expect(readHref('https://example.com')).toBeNull();
    expect(readHref('#cite:%7B')).toBeNull();
  });

  it('links a quotation with emphasis, an address, code and a line break in it, whole', () => {
    const { all, links } = linksIn(
      text('It says "the '),
      element('em', text('old'), element('strong', text(' bridge'))),
      text(' was\nclosed, see '),
      element('a', text('example.com')),
      text(' and '),
      element('code', text('--x')),
      text(' for more" and more, p. 7.'),
    );
    const words = 'the old bridge was closed, see example.com and --x for more';
    const shown = `"the <em>old<strong> bridge</strong></em> was\nclosed, see <a>example.com</a> and <code>--x</code> for more"`;
    expect(links).toEqual([quote(words, shown), { cites: pages(7), named: null, shown: 'p. 7' }]);
    expect(all).toBe(`<root><p>It says ${shown} and more, p. 7.</p></root>`);
  });

  it('links what lies in an emphasis within it, and what begins or ends in the midst of one not at all', () => {
    const words = 'the old bridge was closed';
    expect(linksIn(element('em', text(`So "${words}" it says`), element('br')))).toEqual({
      all: `<root><p><em>So "${words}" it says<br></br></em></p></root>`,
      links: [quote(words, `"${words}"`)],
    });
    expect(linksIn(element('strong', text('[Page 12]'))).all).toBe('<root><p><strong>[Page 12]</strong></p></root>');
    expect(linksIn(element('strong', text('[Page 12]'))).links).toHaveLength(1);
    expect(linksIn(element('em', text('So "the old bridge')), text(' was closed" it says, page 2'))).toEqual({
      all: '<root><p><em>So "the old bridge</em> was closed" it says, page 2</p></root>',
      links: [{ cites: pages(2), named: null, shown: 'page 2' }],
    });
  });

  it('takes what is set as a quotation for one, without its source, and as the answer’s own where nothing leads to it', () => {
    const words = 'The old bridge was closed for the winter.';
    const set = (before: string, ...inside: Node[]) => {
      const tree = element(
        'root',
        element('p', text(before)),
        text('\n'),
        element('blockquote', text('\n'), ...inside),
      );
      citePlugin({ names: ['report.pdf'] })(tree);
      const hrefs = JSON.stringify(tree).match(/#cite:[^"]*/g) ?? [];
      return hrefs.map((href) => readHref(href)?.cites);
    };
    const own = { kind: 'quote', words, own: true };
    const sure = { kind: 'quote', words };
    expect(set('Remember', element('p', text(words)))).toEqual([own]);
    expect(set('The report says:', element('p', text(words)))).toEqual([sure]);
    expect(set('So', element('p', text(`${words} (page 3)`)))).toEqual([sure, pages(3)]);
    expect(set('So', element('p', text(`${words} — report.pdf, p. 3`)))).toEqual([sure, pages(3)]);
    expect(set('So', element('p', element('strong', text(words)), text(' [Page 3]')))).toEqual([sure, pages(3)]);
    expect(set('It says:', element('p', text(`“${words}” on page 3`)))).toEqual([sure, pages(3)]);
    expect(set('Mind:', element('p', text(`Note: ${words}`)))).toEqual([]);
    expect(set('Run:', element('pre', element('code', text(words))))).toEqual([]);
  });

  it('does not read marks that are code, and nothing across the border of two blocks', () => {
    const code = element('code', text('print("a'));
    expect(linksIn(code, text(' is not closed, "the old bridge was closed" is')).links).toEqual([
      quote('the old bridge was closed', '"the old bridge was closed"'),
    ]);
    const items = [element('li', text('He said "the old bridge')), element('li', text('was closed for the winter"'))];
    expect(linksIn(element('ul', ...items)).links).toEqual([]);
  });
});

it('looks through the documents of an answer once, across the borders of its slices', async () => {
  const quote = 'a sentence that lies across the border of two slices';
  const { actions, bridge, call, get } = await openWindow({ start: false });
  const text = `${'x'.repeat(199_980)} ${quote.toUpperCase()} ${'y'.repeat(1000)}`;
  const { documentId } = await attach(call, 'a.txt', text);
  const { citations } = actions;
  // asked for already, and not there yet
  void citations.learn([documentId]);
  await citations.findQuotes('m1', [documentId], [quote, 'a sentence that is in no document']);
  await citations.findQuotes('m1', [documentId], [quote]);
  expect(get().citations.quotes).toEqual({
    m1: { [quote]: { documentId, start: 199_981, end: 199_981 + quote.length } },
  });
  expect(bridge.inputs('documents.sections')).toHaveLength(1);
  expect(bridge.inputs('documents.text')).toHaveLength(2);

  const later = 'y'.repeat(30);
  citations.seek('m1', [{ documentId }], quote);
  citations.seek('m1', [{ documentId }], later);
  await vi.waitFor(() => expect(get().citations.quotes.m1?.[later]).toBeDefined(), waiting);
  expect(get().citations.quotes.m1?.[quote]).toBeDefined();
  expect(bridge.inputs('documents.text')).toHaveLength(3);
});

describe('a quotation that is nowhere', () => {
  const emptyChat = chatSchema.parse({ id: 'c1', title: '', createdAt: 0, updatedAt: 0, messages: [], leafId: null });
  const invented = 'The old bridge was never closed at all.';
  const known = 'What does “the new bridge is made of glass” mean?';

  const before = `I think that nobody has crossed the river. “${invented}”\n\n> The bridge was sold to a king.`;

  /** A chat with a second answer to `known`, and its documents. */
  async function asked(...texts: string[]) {
    const window = await openWindow({ start: false });
    const documents: { documentId: string }[] = [];
    for (const [index, text] of texts.entries()) documents.push(await attach(window.call, `${index}.txt`, text));
    const question = message({ id: 'q1', role: 'user', text: known });
    const earlier = message({ id: 'm0', parentId: 'q1', role: 'assistant', text: before });
    const again = message({ id: 'q2', parentId: 'm0', role: 'user', text: 'Where does it say so?' });
    const messages = [question, earlier, again, message({ id: 'm1', parentId: 'q2', role: 'assistant' })];
    const chat = { ...emptyChat, messages };
    const show = (shown: Chat | null) =>
      window.app.store.setState({ conversation: { ...window.get().conversation, chat: shown } });
    show(chat);
    const ids = documents.map(({ documentId }) => documentId);
    const find = async (...quotes: string[]) => {
      await window.actions.citations.findQuotes('m1', ids, quotes);
      return window.get().citations.quotes.m1;
    };
    return { ...window, ids, find, show };
  }

  it('is told from one that is there, or in the question', async () => {
    const { find, ids } = await asked('The old bridge was closed.', 'Nobody crossed the river that year.');
    const found = await find(invented, 'Nobody crossed the river', 'the new bridge is made of glass', 'page 300');
    expect(found).toEqual({
      [invented]: null,
      'page 300': null,
      'Nobody crossed the river': { documentId: ids[1], start: 0, end: 24 },
    });
  });

  it('is told when an earlier answer made it up; what that said for itself can be quoted', async () => {
    const { find } = await asked('The old bridge was closed.');
    const own = 'nobody has crossed the river';
    expect(await find(invented, own, 'The bridge was sold to a king.')).toEqual({
      [invented]: null,
      'The bridge was sold to a king.': null,
    });
  });

  it('is not told where a text is not there any more, or cannot all be read', async () => {
    const { find, bridge } = await asked('The old bridge was closed.');
    bridge.refuse('documents.text', { code: 'not-found', message: 'It is gone.', hint: '' });
    expect(await find(invented)).toEqual({});
    const { find: inGarbled } = await asked(`Th\ue001 old br\ue002dge w\ufffds clos\ue004d.`);
    expect(await inGarbled(invented)).toEqual({});
  });

  it('is not told where OCR has read a page: it may have got the words wrong', async () => {
    const page = { kind: 'page', label: 'Page 1', level: 0, start: 0, end: 26 };
    const { find, bridge } = await asked('The old bridge was closed.');
    bridge.answer('documents.sections', () => [{ ...page, ocr: true }]);
    expect(await find(invented)).toEqual({});
    const { find: inText, bridge: other } = await asked('The old bridge was closed.');
    other.answer('documents.sections', () => [page]);
    expect(await inText(invented)).toEqual({ [invented]: null });
  });

  it('is not told when its chat is not open any more', async () => {
    const { find, show } = await asked('The old bridge was closed.');
    show(null);
    expect(await find(invented)).toEqual({});
  });
});
