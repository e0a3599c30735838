import { useState } from 'react';
import { Field } from '../../ui/Field';
import { areaClass } from './areaClass';
import { parseStops, printStops } from './stopStrings';

export function StopStrings({ stop, onStop }: { stop: readonly string[]; onStop: (stop: string[]) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const printed = printStops(stop);
  return (
    <Field
      label="Stop strings"
      htmlFor="settings-stop"
      help="One a line; \n stands for a line break. The answer ends before the first that occurs."
    >
      <textarea
        id="settings-stop"
        data-testid="settings-stop"
        rows={2}
        spellCheck={false}
        value={typed ?? printed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed !== null && typed !== printed) onStop(parseStops(typed));
          setTyped(null);
        }}
        className={`${areaClass} font-mono text-xs`}
      />
    </Field>
  );
}
