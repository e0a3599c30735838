/** Keeps the length of the prompt current while it is written, where the model that counts it is loaded. */
import { useEffect, useMemo, useState } from 'react';
import type { ComparePrompt } from '../../../electron/contract/compare';
import { selectCompareDocuments, selectCompareModelId } from '../../state/compare/selectors';
import type { CompareForm } from '../../state/compare/state';
import { selectCanAnswer, selectLoadedModelId } from '../../state/engine/selectors';
import { missingOfPrompt, promptOf } from '../../state/lib/compareForm';
import { selectSettings } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { useDebounced } from '../../ui/useDebounced';

const restMs = 400;

/** Tokens; null: not counted. */
export function usePromptTokens(form: CompareForm): number | null {
  const modelId = useApp(selectCompareModelId);
  const loadedId = useApp(selectLoadedModelId);
  const able = useApp(selectCanAnswer) && modelId !== null && modelId === loadedId;
  const systemPrompt = useApp(selectSettings)?.systemPrompt;
  const documents = useApp(selectCompareDocuments);
  const { compare } = useActions();
  const { kind, text, asIs, question, chat } = form;
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are all that a prompt is made of
  const prompt = useMemo(
    () => (missingOfPrompt(form, documents) === null ? promptOf(form, documents) : null),
    [kind, text, asIs, question, chat, documents],
  );
  const rested = useDebounced(prompt, restMs);
  const [counted, setCounted] = useState<{ prompt: ComparePrompt; tokens: number | null } | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another system prompt makes another length
  useEffect(() => {
    if (!able || rested === null) return;
    let dropped = false;
    void compare.count(modelId, rested).then((tokens) => !dropped && setCounted({ prompt: rested, tokens }));
    return () => {
      dropped = true;
    };
  }, [able, modelId, rested, systemPrompt, compare]);

  return able && counted?.prompt === prompt ? counted.tokens : null;
}
