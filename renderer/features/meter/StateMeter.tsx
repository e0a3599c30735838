import type { EngineState } from '../../../electron/contract/engine';
import { selectConnection, selectEngineState } from '../../state/engine/selectors';
import { selectActivePhase } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';

const words: Record<EngineState, string> = {
  starting: 'Starting',
  unavailable: 'No engine',
  empty: 'No model',
  loading: 'Loading',
  ready: 'Ready',
  generating: 'Writing',
  failed: 'Failed',
  restarting: 'Restarting',
};

const colours: Partial<Record<EngineState, string>> = {
  ready: 'bg-good',
  // no animation: it would be a frame 60 times a second for as long as an answer takes
  generating: 'bg-accent',
  failed: 'bg-bad',
  unavailable: 'bg-bad',
  restarting: 'bg-warn animate-pulse',
};

export function StateMeter() {
  const state = useApp(selectEngineState) ?? 'starting';
  const phase = useApp(selectActivePhase);
  const open = useApp(selectConnection).phase === 'open';
  // An answer begins with reading; its first figures come only after the first part has been read.
  const reading =
    ['prefill', 'saving', 'restoring'].includes(phase ?? '') || (state === 'generating' && phase === null);
  const word = !open ? 'Offline' : reading ? 'Reading' : words[state];
  return (
    <p role="status" data-testid="meter-state" data-state={state} className="flex items-center gap-2 px-2">
      <span
        aria-hidden="true"
        className={cx('size-1.5 rounded-full', open ? (colours[state] ?? 'bg-ink-3') : 'bg-bad')}
      />
      <span className="w-15 max-lg:w-auto">{word}</span>
    </p>
  );
}
