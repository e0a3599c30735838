import { Columns2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';
import { IconButton } from '../../ui/IconButton';

const CompareAnswers = lazy(() => import('./CompareAnswers'));

/** Beside the switch between the answers to one question. */
export function CompareButton({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton
        label="Compare the answers"
        icon={<Columns2 />}
        size="small"
        onClick={() => setOpen(true)}
        data-testid="compare-open"
      />
      {open && (
        <Suspense>
          <CompareAnswers message={message} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
