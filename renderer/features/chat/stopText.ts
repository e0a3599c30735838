import { canGoOn, type Message } from '../../../electron/contract/chats';
import { formatCount } from '../../ui/format';

export interface StopText {
  title: string;
  hint: string;
  /** `room`: a longer context, or less in it */
  action: 'settings' | 'again' | 'room' | null;
  /** what there is of the answer can be continued */
  goesOn: boolean;
}

/** Words for an end that was not normal; null for a normal one. A reached limit of tokens is never blamed on the context. */
export function stopText(message: Message): StopText | null {
  const words = wordsOf(message);
  const begun = isBegun(message);
  return words && { ...words, goesOn: begun && canGoOn(message.stopReason) };
}

function isBegun({ text, thinking, summary }: Message): boolean {
  return text !== '' || thinking !== '' || (summary !== undefined && summary.parts.length > 0);
}

function wordsOf(message: Message): Omit<StopText, 'goesOn'> | null {
  const { stopReason, stats, error } = message;
  switch (stopReason) {
    case null:
    case 'end-of-turn':
    case 'stop-string':
      return null;
    case 'max-tokens':
      return {
        // the figures of a summary are those of all its parts
        title:
          stats && !message.summary
            ? `Stopped at the limit for one answer, after ${formatCount(stats.answerTokens)} tokens.`
            : 'Stopped at the token limit.',
        hint: 'The limit is in the settings, under Sampling.',
        action: 'settings',
      };
    case 'context-full':
      return {
        title:
          error?.message ??
          (stats ? `The context of ${formatCount(stats.contextSize)} tokens is full.` : 'The context is full.'),
        hint: 'Nothing was cut. Make room, or start a new chat.',
        action: 'room',
      };
    case 'cancelled':
      return { title: 'You stopped this answer.', hint: '', action: null };
    case 'interrupted':
      return {
        title: 'The engine stopped in the middle of this answer.',
        hint: isBegun(message) ? 'The partial answer was kept.' : '',
        action: 'again',
      };
    case 'error':
      return {
        title: error?.message ?? 'The answer failed.',
        hint: error?.hint ?? '',
        action: errorAction(error?.code),
      };
  }
}

function errorAction(code: string | undefined): StopText['action'] {
  const settings = ['context-full', 'context-invalid', 'out-of-memory', 'cache-type-unsupported'];
  return code !== undefined && settings.includes(code) ? 'settings' : 'again';
}
