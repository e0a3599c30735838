/** Presets: the system prompt and the sampling under a name. */
import { Ellipsis, Pencil, Save, Star, StarOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { Preset } from '../../../electron/contract/presets';
import { selectDefaultPresetId, selectPresetInUse, selectPresets } from '../../state/presets/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Confirm } from '../../ui/Confirm';
import { Menu, MenuItem } from '../../ui/Menu';
import { Select } from '../../ui/Select';
import { PresetDialog } from './PresetDialog';

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
      toast(`${preset.name} is in use`, {
        duration: 8000,
        action: { label: 'Undo', onClick: () => void presets.apply(before) },
      });
    }
  }

  return (
    <div className="grid gap-2">
      {all.length > 0 && (
        <div className="flex items-center gap-2">
          <Select
            aria-label="Preset"
            data-testid="preset-select"
            className="min-w-0 flex-1"
            value={inUse?.id ?? ''}
            onChange={(event) => choose(event.target.value)}
          >
            {!inUse && <option value="">{chosen ? `${chosen.name}, changed` : 'Own values'}</option>}
            {all.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {preset.id === defaultId ? `${preset.name} (default)` : preset.name}
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
          Save these values as a preset
        </Button>
      </div>
      <p className="text-xs leading-relaxed text-ink-3">
        A preset keeps the system prompt and the sampling; with the default one new chats begin.
      </p>
      {asked && asked.kind !== 'remove' && (
        <PresetDialog
          preset={asked.kind === 'new' ? null : asked.preset}
          kind={asked.kind}
          onClose={() => setAsked(null)}
        />
      )}
      <Confirm
        title={asked?.kind === 'remove' ? `Delete the preset “${asked.preset.name}”?` : ''}
        description="The settings stay as they are."
        action="Delete"
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
          aria-label={`Actions for the preset ${preset.name}`}
          data-testid="preset-menu"
          className="flex size-8 shrink-0 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Ellipsis className="size-4" aria-hidden="true" />
        </button>
      }
    >
      {changed && (
        <MenuItem icon={<Save />} onSelect={() => onAsk({ kind: 'update', preset })}>
          Update with these values
        </MenuItem>
      )}
      <MenuItem icon={<Pencil />} onSelect={() => onAsk({ kind: 'rename', preset })}>
        Rename
      </MenuItem>
      <MenuItem
        icon={isDefault ? <StarOff /> : <Star />}
        onSelect={() => void presets.setDefault(isDefault ? null : preset.id)}
      >
        {isDefault ? 'Clear default' : 'Make default'}
      </MenuItem>
      <MenuItem icon={<Trash2 />} danger onSelect={() => onAsk({ kind: 'remove', preset })}>
        Delete
      </MenuItem>
    </Menu>
  );
}
