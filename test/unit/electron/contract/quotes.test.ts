/** Quotations in texts that spell them otherwise, and what is taken for a quotation of a sentence. */
import { describe, expect, it } from 'vitest';
import { isSentence, QuotedText, QuoteSearch } from '@/electron/contract/lib/quotes';

const pageOne =
  'The old bridge was closed for the win-\nter of 1911, and “nobody”\n  crossed it. It had been built by hand\nin';
const pageTwo = '14\n\nA history of the valley\n\n1875 and cost 1.5 million, the highest sum2 of the county [12, 13].';
const text = `${pageOne}\n\n${pageTwo}\n\nThe deﬁnition of “ﬂow” is naïve.`;
const pages = [0, pageOne.length + 2];

function found(quote: string): string | null {
  const place = new QuoteSearch(quote).look(new QuotedText(text, pages), 0);
  return place && text.slice(place.start, place.end);
}

describe('finds', () => {
  it.each([
    ['a line break and a hyphen', 'closed for the winter of 1911', 'closed for the win-\nter of 1911'],
    ['other marks', "and 'nobody' crossed it.", 'and “nobody”\n  crossed it'],
    ['another case', 'THE OLD BRIDGE WAS', 'The old bridge was'],
    ['no comma', 'of 1911 and nobody', 'of 1911, and “nobody'],
    ['letters for ligatures', 'the definition of "flow"', 'The deﬁnition of “ﬂow'],
    ['ligatures for letters', 'crossed it. It had been', 'crossed it. It had been'],
    ['no accents', 'is naive.', 'is naïve'],
    ['a number with a point', 'cost 1.5 million', 'cost 1.5 million'],
    ['words left out', 'The old bridge … crossed it', text.slice(0, text.indexOf(' It had') - 1)],
    ['words left out in brackets', 'the old bridge [...] nobody crossed', text.slice(0, text.indexOf('crossed') + 7)],
    ['words put in', 'nobody [in the valley] crossed it', 'nobody”\n  crossed it'],
    ['a letter put in', '[T]he old bridge', 'The old bridge'],
    ['a mark of a note', 'the highest sum of the county.', 'the highest sum2 of the county'],
    [
      'the border of two pages',
      'It had been built by hand in 1875 and cost',
      text.slice(text.indexOf('It had'), text.indexOf(' 1.5')),
    ],
  ])('%s', (_, quote, words) => {
    expect(found(quote)).toBe(words);
  });

  it('words of a Markdown file, as they are shown', () => {
    const text = 'Call `lm()` for a *linear* model, see [the manual](https://example.com/lm_1), and ~~not~~ `glm`.';
    const place = (quote: string) => new QuoteSearch(quote).look(new QuotedText(text), 0);
    expect(place('Call lm() for a linear model, see the manual, and not glm.')).not.toBeNull();
    expect(place('Call lm() for a linear model, see the manual, and glm.')).toBeNull();
  });

  it('parts that a text has far from each other, in several of its stretches', () => {
    const search = new QuoteSearch('The old bridge was ... and nothing else');
    expect(search.look(new QuotedText('The old bridge was closed.'), 0)).toBeNull();
    expect(search.look(new QuotedText('It was closed and nothing else.'), 90_000)).toEqual({ start: 0, end: 18 });
  });
});

describe('does not find', () => {
  it.each([
    ['another word', 'closed for the summer of 1911'],
    ['a word less', 'the old bridge closed for the winter'],
    ['a word more', 'the old bridge was not closed'],
    ['another number', 'cost 15 million'],
    ['another year', 'built by hand in 1975 and cost'],
    ['a part that is not there', 'The old bridge … is open again'],
    ['another word behind the border of two pages', 'built by hand in 1875 and was cheap'],
    ['nothing', '...'],
  ])('%s', (_, quote) => {
    expect(found(quote)).toBeNull();
  });
});

it.each([
  ['The old bridge was closed.', true],
  ['the bridge was closed', true],
  ['Die alte Brücke war gesperrt', true],
  ['le vieux pont était fermé', true],
  ['旧橋は冬の間閉鎖されていた', true],
  ['Use lm() to fit a linear model to the data.', true],
  ['We Were Never There Before Monday.', true],
  ['graphical user interface', false],
  ['The Art of Computer Programming', false],
  ['R Foundation for Statistical Computing', false],
  ['x <- c(1, 2, 3) and then y', false],
  ['if (a == b) return the value', false],
  ['https://example.com/a/b/c d e f', false],
  ['1.5 2.5 3.5 4.5 5.5 6.5', false],
])('of "%s": a sentence is %s', (words, is) => {
  expect(isSentence(words)).toBe(is);
});
