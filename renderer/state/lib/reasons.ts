/** Words for why a passage was found, where a search model of the person's ranks beside the words. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, selectOrdinal, t } from '@lingui/core/macro';
import type { Passage, WordsAlone } from '../../../electron/contract/lib/attachments';
import { i18n } from '../../language';

/** "By words: lm, function. By meaning: 2nd nearest"; null: words alone ranked, and there is nothing to tell. */
export function reasonText({ words, meaning }: Pick<Passage, 'words' | 'meaning'>): string | null {
  if (words === undefined && meaning === undefined) return null;
  const listed = words && words.length > 0 ? words.join(', ') : null;
  if (meaning === undefined) return listed === null ? t`By a part of the words` : t`By words: ${listed}`;
  const rank = nearest(meaning);
  return listed === null ? t`By meaning (${rank})` : t`By words: ${listed}, and by meaning (${rank})`;
}

function nearest(rank: number): string {
  return selectOrdinal(rank, {
    1: 'nearest',
    one: '#st nearest',
    two: '#nd nearest',
    few: '#rd nearest',
    other: '#th nearest',
  });
}

/** Why there is no ranking by meaning, as a sentence. */
export function wordsAloneText(why: WordsAlone): string {
  return i18n._(sentences[why]);
}

const sentences: Record<WordsAlone, MessageDescriptor> = {
  loading: msg`Found by words alone: the search model was not loaded in time.`,
  reading: msg`Found by words alone: the search model has not read this document yet.`,
  canceled: msg`Found by words alone: the reading by the search model was canceled.`,
  failed: msg`Found by words alone: the search model could not be used. The settings say why.`,
  'too-long': msg`Found by words alone: this document is too long for the search model.`,
};
