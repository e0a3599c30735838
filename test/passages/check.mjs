// Whether each question's quote stands on one of its pages, in the text that the app itself takes out of the PDF. Gets the
// manuals first where they are missing. Prints counts, and the numbers of the questions that are wrong.
// CLI: node test/passages/check.mjs

import { cli, PrepareError } from '../../native/prepare/process.mjs';
import { readManuals } from './read.mjs';

const LEAST_QUOTE = 12;

const oneLine = (text) => text.replace(/\s+/g, ' ');

/** @returns {string} '' where nothing is wrong */
function fault({ pages, quote }, texts) {
  if (pages.length === 0 || !pages.every((page) => page >= 1 && page <= texts.length))
    return 'names no page, or a wrong one';
  if (quote.length < LEAST_QUOTE) return `quotes fewer than ${LEAST_QUOTE} characters`;
  if (!pages.some((page) => texts[page - 1].includes(quote))) return 'quotes what stands on none of its pages';
  return '';
}

await cli(import.meta.url, async () => {
  const faults = [];
  for (const { name, open, sealed, pages, text, sections } of await readManuals()) {
    const texts = sections.map(({ start, end }) => oneLine(text.slice(start, end)));
    console.log(`${name}: ${texts.length} pages, ${open.length} open and ${sealed.length} sealed questions`);
    if (texts.length !== pages) faults.push(`${name} says that it has ${pages} pages`);
    if (open.length !== sealed.length) faults.push(`the halves of ${name} differ in length`);
    for (const [half, questions] of Object.entries({ open, sealed })) {
      for (const [index, asked] of questions.entries()) {
        const wrong = fault(asked, texts);
        if (wrong !== '') faults.push(`${name}, ${half} question ${index + 1} ${wrong}`);
      }
    }
  }
  if (faults.length > 0) throw new PrepareError(`correct test/passages/questions:\n${faults.join('\n')}`);
});
