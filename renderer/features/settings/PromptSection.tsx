import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../electron/shared/limits';
import { useActions } from '../../state/useApp';
import { areaClass } from './areaClass';

const restMs = 600;

/** Saved when the typing rests, and at the latest when the field is left. */
export function PromptSection({ systemPrompt }: { systemPrompt: string }) {
  const { settings } = useActions();
  const [typed, setTyped] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  function save(text: string): void {
    clearTimeout(timer.current);
    if (text !== systemPrompt) void settings.update({ systemPrompt: text });
  }

  function type(text: string): void {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => save(text), restMs);
  }

  return (
    <div className="grid gap-1.5">
      <textarea
        id="settings-system-prompt"
        data-testid="settings-system-prompt"
        aria-label="System prompt"
        aria-describedby="settings-system-prompt-help"
        rows={4}
        maxLength={limits.maxSystemPrompt}
        placeholder="Instructions that stand before every chat"
        value={typed ?? systemPrompt}
        onChange={(event) => type(event.target.value)}
        onBlur={() => {
          if (typed !== null) save(typed);
          setTyped(null);
        }}
        className={areaClass}
      />
      <p id="settings-system-prompt-help" className="text-xs leading-relaxed text-ink-3">
        Used from the next question on. A change makes the chat be read again once.
      </p>
    </div>
  );
}
