import { formatCount } from './format';

/** Of messages that the model does not read, because the context is too short for all. `verb`: at the answer, or before it. */
export function leftOutText(count: number, verb: 'left out' | 'will be left out'): string {
  const messages = count === 1 ? 'The oldest message' : `The ${formatCount(count)} oldest messages`;
  if (verb === 'will be left out') return `${messages} ${verb}.`;
  return `${messages} ${count === 1 ? 'was' : 'were'} ${verb}.`;
}
