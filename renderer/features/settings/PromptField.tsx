import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../electron/contract/limits';
import { areaClass } from './areaClass';

const restMs = 600;

interface PromptFieldProps {
  prompt: string;
  help: string;
  onSave: (text: string) => void;
}

/** Saved when the typing rests, and at the latest when the field is left or goes away. */
export function PromptField({ prompt, help, onSave }: PromptFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const leave = useRef(() => {});
  useEffect(() => {
    leave.current = () => typed !== null && save(typed);
  });
  useEffect(() => () => leave.current(), []);

  function save(text: string): void {
    clearTimeout(timer.current);
    if (text !== prompt) onSave(text);
  }

  function type(text: string): void {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => save(text), restMs);
  }

  return (
    <div className="grid gap-1.5">
      <textarea
        dir="auto"
        id="settings-system-prompt"
        data-testid="settings-system-prompt"
        aria-label="System prompt"
        aria-describedby="settings-system-prompt-help"
        rows={4}
        maxLength={limits.maxSystemPrompt}
        placeholder="Instructions that stand before the chat"
        value={typed ?? prompt}
        onChange={(event) => type(event.target.value)}
        onBlur={() => {
          if (typed !== null) save(typed);
          setTyped(null);
        }}
        className={areaClass}
      />
      <p id="settings-system-prompt-help" className="text-xs leading-relaxed text-ink-3">
        {help}
      </p>
    </div>
  );
}
