import { msg } from '@lingui/core/macro';
import { i18n } from '../../language';
import { cx } from '../../ui/cx';

const words = {
  sent: { label: msg`in this chat`, title: msg`The model has it: it was sent with a question of this chat` },
  chosen: { label: msg`with the question`, title: msg`It goes with the question that you are writing` },
};

/** What of a document the model sees. */
export function ContextMark({ state }: { state: 'sent' | 'chosen' }) {
  const { label, title } = words[state];
  return (
    <span
      title={i18n._(title)}
      data-testid="context-mark"
      data-state={state}
      className={cx(
        'shrink-0 rounded-full px-1.5 text-[0.6875rem] leading-4 font-medium',
        state === 'sent' ? 'bg-accent text-on-accent' : 'border border-accent text-accent',
      )}
    >
      {i18n._(label)}
    </span>
  );
}
