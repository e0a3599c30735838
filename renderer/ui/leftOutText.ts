import { formatCount } from './format';

/** Of messages that the model does not read, because the context is too short for all. `verb`: at the answer, or before it. */
export function leftOutText(count: number, verb: 'left out' | 'will be left out'): string {
  const messages = count === 1 ? 'The oldest message' : `The ${formatCount(count)} oldest messages`;
  if (verb === 'will be left out') return `${messages} ${verb}.`;
  return `${messages} ${count === 1 ? 'was' : 'were'} ${verb}.`;
}

/** Of questions whose passages make room. `verb`: at the answer, or before it. */
export function releasedText(questions: number, verb: 'left' | 'will leave'): string {
  const whose = questions === 1 ? 'an earlier question' : `${formatCount(questions)} earlier questions`;
  if (verb === 'left')
    return `To make room, the passages of ${whose} left the prompt. The chat was read again from there.`;
  return `To make room, the passages of ${whose} will leave the prompt; the words stay.`;
}
