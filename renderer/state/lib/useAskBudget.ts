/** Keeps the budget of what is being written current. One component calls it; everyone reads it. */
import { useEffect, useRef } from 'react';
import { budgetKey } from '../budget/key';
import { selectCanAnswer } from '../engine/selectors';
import { useActions, useApp } from '../useApp';

const restMs = 300;

/** `paused`: an answer is being written, and what follows it is not known yet. One count at a time. */
export function useAskBudget(paused: boolean): void {
  const { budget } = useActions();
  const key = useApp(budgetKey);
  const able = useApp(selectCanAnswer) && !paused;
  const running = useRef<Promise<unknown>>(Promise.resolve());

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the chat, the draft and the model
  useEffect(() => {
    if (!able) return;
    let dropped = false;
    const timer = setTimeout(() => {
      running.current = running.current.then(() => (dropped ? undefined : budget.ask()));
    }, restMs);
    return () => {
      dropped = true;
      clearTimeout(timer);
    };
  }, [able, key, budget]);
}
