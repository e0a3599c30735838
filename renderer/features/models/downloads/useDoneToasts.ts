/** Says that a model has arrived, wherever the person is; only not where the list of downloads says it already. */
import { useEffect, useRef } from 'react';
import { toast } from 'sonner';
import { selectDownloads } from '../../../state/downloads/selectors';
import { selectModelsTab } from '../../../state/ui/selectors';
import { useApp } from '../../../state/useApp';
import { useChatWith } from '../useChatWith';
import { newlyDone } from './newlyDone';

export function useDoneToasts(): void {
  const list = useApp(selectDownloads);
  const seesList = useApp(selectModelsTab) === 'downloads';
  const chatWith = useChatWith();
  const before = useRef(list);

  useEffect(() => {
    const arrived = newlyDone(before.current, list);
    before.current = list;
    if (seesList) return;
    for (const { title, modelId } of arrived) {
      const action = modelId === null ? undefined : { label: 'Chat with it', onClick: () => chatWith(modelId) };
      toast.success(`${title} is downloaded`, { duration: 10_000, ...(action && { action }) });
    }
  }, [list, seesList, chatWith]);
}
