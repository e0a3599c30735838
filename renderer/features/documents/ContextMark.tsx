import { cx } from '../../ui/cx';

const words = {
  sent: { label: 'in this chat', title: 'The model has it: it was sent with a question of this chat' },
  chosen: { label: 'with the question', title: 'It goes with the question that you are writing' },
};

/** What of a document the model sees. */
export function ContextMark({ state }: { state: 'sent' | 'chosen' }) {
  const { label, title } = words[state];
  return (
    <span
      title={title}
      data-testid="context-mark"
      data-state={state}
      className={cx(
        'shrink-0 rounded-full px-1.5 text-[0.6875rem] leading-4 font-medium',
        state === 'sent' ? 'bg-accent text-on-accent' : 'border border-accent text-accent',
      )}
    >
      {label}
    </span>
  );
}
