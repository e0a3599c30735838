/** Presets: the system prompt and the sampling under a name. */

import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Ellipsis, Pencil, Save, Star, StarOff, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { toast } from 'sonner';
import type { Preset } from '../../../../electron/contract/lib/presets';
import { limits } from '../../../../electron/contract/limits';
import { i18n } from '../../../language';
import { selectDefaultPresetId, selectPresetInUse, selectPresets } from '../../../state/slices/presets';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { Confirm, Dialog } from '../../../ui/Dialog';
import { controlClass, Field } from '../../../ui/Field';
import { Menu, MenuItem } from '../../../ui/Menu';
import { Select } from '../../../ui/Select';

type Asked = { kind: 'new' } | { kind: 'rename' | 'update' | 'remove'; preset: Preset };

export function PresetSection() {
  const all = useApp(selectPresets);
  const inUse = useApp(selectPresetInUse);
  const defaultId = useApp(selectDefaultPresetId);
  const { presets } = useActions();
  const [asked, setAsked] = useState<Asked | null>(null);
  /** the one that was chosen last: it can take over what was changed since */
  const [chosenId, setChosenId] = useState<string | null>(null);
  const chosen = inUse ?? all.find(({ id }) => id === chosenId) ?? null;

  function choose(id: string): void {
    const preset = all.find((one) => one.id === id);
    const before = presets.current('before', preset?.engine != null);
    if (!preset || !before) return;
    setChosenId(id);
    void presets.apply(preset);
    // values that are in no preset are not lost by a slip
    if (!inUse) {
      toast(t`${preset.name} is in use`, {
        duration: 8000,
        action: { label: t`Undo`, onClick: () => void presets.apply(before) },
      });
    }
  }

  return (
    <div className="grid gap-2">
      {all.length > 0 && (
        <div className="flex items-center gap-2">
          <Select
            aria-label={t`Preset`}
            data-testid="preset-select"
            className="min-w-0 flex-1"
            value={inUse?.id ?? ''}
            onChange={(event) => choose(event.target.value)}
          >
            {!inUse && <option value="">{chosen ? t`${chosen.name}, changed` : t`Own values`}</option>}
            {all.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {preset.id === defaultId ? t`${preset.name} (default)` : preset.name}
              </option>
            ))}
          </Select>
          {chosen && (
            <PresetMenu preset={chosen} changed={!inUse} isDefault={chosen.id === defaultId} onAsk={setAsked} />
          )}
        </div>
      )}
      <div>
        <Button size="small" data-testid="preset-new" onClick={() => setAsked({ kind: 'new' })}>
          <Trans>Save these values as a preset</Trans>
        </Button>
      </div>
      <p className="text-xs leading-relaxed text-ink-3">
        <Trans>A preset keeps the system prompt and the sampling; with the default one new chats begin.</Trans>
      </p>
      {asked && asked.kind !== 'remove' && (
        <PresetDialog
          preset={asked.kind === 'new' ? null : asked.preset}
          kind={asked.kind}
          onClose={() => setAsked(null)}
        />
      )}
      <Confirm
        title={asked?.kind === 'remove' ? t`Delete the preset “${asked.preset.name}”?` : ''}
        description={t`The settings stay as they are.`}
        action={t`Delete`}
        open={asked?.kind === 'remove'}
        onOpenChange={(open) => !open && setAsked(null)}
        onConfirm={() => asked?.kind === 'remove' && void presets.remove(asked.preset.id)}
      />
    </div>
  );
}

interface PresetMenuProps {
  preset: Preset;
  /** the settings are other ones by now */
  changed: boolean;
  isDefault: boolean;
  onAsk: (asked: Asked) => void;
}

function PresetMenu({ preset, changed, isDefault, onAsk }: PresetMenuProps) {
  const { presets } = useActions();
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={t`Actions for the preset ${preset.name}`}
          data-testid="preset-menu"
          className="flex size-8 shrink-0 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Ellipsis className="size-4" aria-hidden="true" />
        </button>
      }
    >
      {changed && (
        <MenuItem icon={<Save />} onSelect={() => onAsk({ kind: 'update', preset })}>
          <Trans>Update with these values</Trans>
        </MenuItem>
      )}
      <MenuItem icon={<Pencil />} onSelect={() => onAsk({ kind: 'rename', preset })}>
        <Trans>Rename</Trans>
      </MenuItem>
      <MenuItem
        icon={isDefault ? <StarOff /> : <Star />}
        onSelect={() => void presets.setDefault(isDefault ? null : preset.id)}
      >
        {isDefault ? t`Clear default` : t`Make default`}
      </MenuItem>
      <MenuItem icon={<Trash2 />} danger onSelect={() => onAsk({ kind: 'remove', preset })}>
        <Trans>Delete</Trans>
      </MenuItem>
    </Menu>
  );
}

const titles = {
  new: msg`Save as a preset`,
  rename: msg`Rename the preset`,
  update: msg`Update the preset`,
};

interface PresetDialogProps {
  kind: keyof typeof titles;
  /** null: a new one */
  preset: Preset | null;
  onClose: () => void;
}

/** Stays open with the reason when the name is refused. */
function PresetDialog({ kind, preset, onClose }: PresetDialogProps) {
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
      title={i18n._(titles[kind])}
      description={t`The system prompt for new chats and the sampling, as they are now.`}
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
        <Field label={t`Name`} htmlFor={`${id}-name`}>
          <input
            dir="auto"
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
            <Trans>With the model, the context length and the cache types. Choosing the preset loads them.</Trans>
          </label>
        )}
        {problem !== null && (
          <p id={`${id}-problem`} role="alert" className="text-xs text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end">
          <Button type="submit" tone="primary" data-testid="preset-save" disabled={name.trim() === ''}>
            {kind === 'update' ? t`Update` : t`Save`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
