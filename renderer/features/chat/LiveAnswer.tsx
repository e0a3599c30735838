/** The answer that is being written: the only part of the list that a token renders again. */
import { useDeferredValue } from 'react';
import type { Message } from '../../../electron/shared/chats';
import { selectLive } from '../../state/stream/selectors';
import type { LiveAnswer as Live } from '../../state/stream/state';
import { useApp } from '../../state/useApp';
import { AnswerText } from './AnswerText';
import { PrefillProgress } from './PrefillProgress';
import { Thinking } from './Thinking';

export function LiveAnswer({ message }: { message: Message }) {
  const live = useApp(selectLive(message.id));
  const text = useDeferredValue(shown(message.text, live, 'text'));
  const thinking = shown(message.thinking, live, 'thinking');
  const phase = live?.stats?.phase ?? null;
  const waiting = text === '' && thinking === '';

  return (
    <div aria-busy="true" className="min-h-7">
      {waiting && live?.stats && phase !== 'decode' && <PrefillProgress stats={live.stats} />}
      {waiting && (phase === null || phase === 'decode') && (
        <p className="caret text-base text-ink-3">
          <span className="sr-only">The answer begins.</span>
        </p>
      )}
      {thinking !== '' && <Thinking text={thinking} live={text === ''} />}
      <AnswerText text={text} streaming />
    </div>
  );
}

/** A window that joined in the middle continues the stored text; one that was there from the start has all of it. */
function shown(stored: string, live: Live | null, part: 'text' | 'thinking'): string {
  if (!live) return stored;
  return live.fromStart ? live[part] : stored + live[part];
}
