import { useId, useState } from 'react';
import { limits } from '../../../electron/contract/limits';
import type { Preset } from '../../../electron/contract/presets';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { controlClass, Field } from '../../ui/Field';

const titles = { new: 'Save as a preset', rename: 'Rename the preset', update: 'Update the preset' } as const;

interface PresetDialogProps {
  kind: keyof typeof titles;
  /** null: a new one */
  preset: Preset | null;
  onClose: () => void;
}

/** Stays open with the reason when the name is refused. */
export function PresetDialog({ kind, preset, onClose }: PresetDialogProps) {
  const { presets } = useActions();
  const id = useId();
  const [name, setName] = useState(preset?.name ?? '');
  const [withEngine, setWithEngine] = useState(preset?.engine != null);
  const [problem, setProblem] = useState<string | null>(null);

  async function save(): Promise<void> {
    const trimmed = name.trim();
    const refused =
      kind === 'rename' && preset
        ? await presets.rename(preset, trimmed)
        : await presets.save(preset?.id ?? null, trimmed, withEngine);
    if (refused === null) onClose();
    else setProblem(refused);
  }

  return (
    <Dialog
      title={titles[kind]}
      description="The system prompt for new chats and the sampling, as they are now."
      open
      onOpenChange={(open) => !open && onClose()}
      testId="preset-dialog"
      className="w-[min(24rem,calc(100%-2rem))]"
    >
      <form
        className="grid min-h-0 gap-4 overflow-y-auto p-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') void save();
        }}
      >
        <Field label="Name" htmlFor={`${id}-name`}>
          <input
            id={`${id}-name`}
            data-testid="preset-name"
            value={name}
            maxLength={limits.maxPresetName}
            aria-invalid={problem !== null || undefined}
            aria-describedby={problem === null ? undefined : `${id}-problem`}
            onChange={(event) => setName(event.target.value)}
            className={controlClass}
          />
        </Field>
        {kind !== 'rename' && (
          <label className="flex items-start gap-2 text-sm text-ink-2">
            <input
              type="checkbox"
              checked={withEngine}
              onChange={(event) => setWithEngine(event.target.checked)}
              className="mt-1 accent-accent"
            />
            With the model, the context length and the cache types. Choosing the preset loads them.
          </label>
        )}
        {problem !== null && (
          <p id={`${id}-problem`} role="alert" className="text-xs text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end">
          <Button type="submit" tone="primary" data-testid="preset-save" disabled={name.trim() === ''}>
            {kind === 'update' ? 'Update' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
