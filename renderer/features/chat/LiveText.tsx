/** Text of an answer that is being written: the only part of the list that a token renders again. */
import { useDeferredValue } from 'react';
import type { Message } from '../../../electron/contract/chats';
import { selectEngineState } from '../../state/engine/selectors';
import { waitsFor } from '../../state/engine/waitsFor';
import { selectLive } from '../../state/stream/selectors';
import type { LiveAnswer as Live } from '../../state/stream/state';
import { useApp } from '../../state/useApp';
import { AnswerText } from './markdown/AnswerText';
import { PrefillProgress } from './PrefillProgress';
import { Thinking } from './Thinking';

export function LiveText({ message }: { message: Pick<Message, 'id' | 'text' | 'thinking'> }) {
  const live = useApp(selectLive(message.id));
  const text = useDeferredValue(shown(message.text, live, 'text'));
  const thinking = shown(message.thinking, live, 'thinking');

  return (
    <div aria-busy="true" className="min-h-7">
      {text === '' && thinking === '' && <BeforeText live={live} />}
      {thinking !== '' && <Thinking id={message.id} text={thinking} live={text === ''} />}
      <AnswerText text={text} streaming />
    </div>
  );
}

/** What goes on until the first word: waiting for a model, reading, or the first token on its way. */
function BeforeText({ live }: { live: Live | null }) {
  const waits = waitsFor(useApp(selectEngineState));
  if (!live?.stats && waits) return <p className="text-sm text-ink-3">{waits}</p>;
  if (live?.stats?.phase !== 'decode') return <PrefillProgress stats={live?.stats ?? null} />;
  return (
    <p className="caret text-base text-ink-3">
      <span className="sr-only">The answer begins.</span>
    </p>
  );
}

/** A window that joined in the middle continues the stored text; one that was there from the start has all of it. */
function shown(stored: string, live: Live | null, part: 'text' | 'thinking'): string {
  if (!live) return stored;
  return live.fromStart ? live[part] : stored + live[part];
}
