/** Exact tokens of the branch with the draft, through the model's own template. One count at a time. */
import { useEffect, useRef, useState } from 'react';
import { selectCanAnswer, selectLoadedModelId } from '../engine/selectors';
import { useActions, useApp } from '../useApp';
import { selectLeafId } from './selectors';

export interface DraftTokens {
  tokens: number | null;
  /** the count belongs to an older state of the draft */
  stale: boolean;
}

const restMs = 300;

export function useDraftTokens(draft: string, paused: boolean): DraftTokens {
  const { conversation } = useActions();
  const leafId = useApp(selectLeafId);
  const modelId = useApp(selectLoadedModelId);
  const able = useApp(selectCanAnswer) && !paused;
  const [counted, setCounted] = useState<{ key: string; tokens: number } | null>(null);
  const running = useRef<Promise<unknown>>(Promise.resolve());
  const key = `${modelId}\n${leafId}\n${draft}`;

  useEffect(() => {
    if (!able) return;
    let dropped = false;
    const timer = setTimeout(() => {
      running.current = running.current
        .then(() => (dropped ? null : conversation.countTokens(draft)))
        .then((tokens) => {
          if (tokens !== null && !dropped) setCounted({ key, tokens });
        })
        // Without a count the field still works; the engine checks again when the question is sent.
        .catch(() => {});
    }, restMs);
    return () => {
      dropped = true;
      clearTimeout(timer);
    };
  }, [able, key, draft, conversation]);

  return { tokens: counted?.tokens ?? null, stale: counted?.key !== key };
}
