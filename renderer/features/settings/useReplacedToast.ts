import { useEffect } from 'react';
import { toast } from 'sonner';
import { selectReplaced } from '../../state/presets/selectors';
import { useActions, useApp } from '../../state/useApp';

/** A new chat begins with the default preset: values that are in no preset are not lost by that. */
export function useReplacedToast(): void {
  const replaced = useApp(selectReplaced);
  const { presets } = useActions();
  useEffect(() => {
    if (!replaced) return;
    toast(`New chats begin with ${replaced.by}`, {
      description: 'Your own values of prompt and sampling were put aside.',
      duration: 10_000,
      action: { label: 'Undo', onClick: () => void presets.restoreReplaced() },
    });
  }, [replaced, presets]);
}
