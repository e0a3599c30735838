import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FilePlus2, FolderPlus, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { AddModelsResult } from '../../../electron/contract/models';
import { selectHeadless } from '../../state/slices/engine';
import { canChat, selectAdding, selectAddProgress, selectRefused } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { controlClass } from '../../ui/Field';
import { useDebounced } from '../../ui/hooks';

const lateMs = 400;

export function AddModels() {
  const headless = useApp(selectHeadless);
  const adding = useApp(selectAdding);
  const { models } = useActions();
  const show = useShownWhereListed();

  return (
    <div className="border-t border-line p-3">
      <Refusals />
      <Searching />
      {headless ? (
        <PathForm adding={adding} />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <Button
            size="small"
            disabled={adding}
            onClick={() => void show(models.addFromDialog('files'))}
            data-testid="add-model-files"
          >
            <FilePlus2 className="size-3.5" aria-hidden="true" />
            <Trans>Add files…</Trans>
          </Button>
          <Button
            size="small"
            disabled={adding}
            onClick={() => void models.addFromDialog('folder')}
            data-testid="add-model-folder"
          >
            <FolderPlus className="size-3.5" aria-hidden="true" />
            <Trans>Add folder…</Trans>
          </Button>
          {adding && <LoaderCircle className="size-4 animate-spin text-ink-3" aria-label={t`Adding`} />}
          <span className="ms-auto text-xs text-ink-3">
            <Trans>or drop a .gguf into the window</Trans>
          </span>
        </div>
      )}
    </div>
  );
}

/** The list of models to chat with has no adapters and no embedding models: who adds one sees it where all are. */
function useShownWhereListed() {
  const { ui } = useActions();
  return async (adding: Promise<AddModelsResult | null>) => {
    if ((await adding)?.added.some((model) => !canChat(model))) ui.showModels('here');
  };
}

/** A small folder is added before this could be read. */
function Searching() {
  const progress = useApp(selectAddProgress);
  const late = useDebounced(progress !== null, lateMs);
  const { models } = useActions();
  if (!progress || !late) return null;
  return (
    <div className="mb-3 flex items-center gap-2 text-xs text-ink-2" data-testid="models-searching">
      <span className="min-w-0 flex-1 tabular-nums">
        {t`Searching the folder: ${plural(progress.models, { one: '# model', other: '# models' })} in ${plural(progress.folders, { one: '# folder', other: '# folders' })} so far`}
      </span>
      <Button size="small" tone="quiet" onClick={() => void models.cancelAdd()}>
        <Trans>Cancel</Trans>
      </Button>
    </div>
  );
}

/** A browser has no dialog that tells paths: the person types one. */
function PathForm({ adding }: { adding: boolean }) {
  const [path, setPath] = useState('');
  const { models } = useActions();

  async function add(): Promise<void> {
    const result = await models.addPaths([path.trim()]);
    if (result && result.refused.length === 0) setPath('');
  }

  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (path.trim() !== '') void add();
      }}
    >
      <input
        aria-label={t`Path of a GGUF file or of a folder on the computer that runs Concertina`}
        data-testid="add-model-path"
        placeholder={t`/path/to/model.gguf or a folder`}
        value={path}
        spellCheck={false}
        onChange={(event) => setPath(event.target.value)}
        className={`${controlClass} min-w-0 flex-1`}
      />
      <Button type="submit" disabled={adding || path.trim() === ''}>
        <Trans>Add</Trans>
      </Button>
    </form>
  );
}

function Refusals() {
  const refused = useApp(selectRefused);
  const { models } = useActions();
  if (refused.length === 0) return null;
  return (
    <Banner
      tone="warn"
      title={plural(refused.length, { one: 'This was not added.', other: '# were not added.' })}
      testId="models-refused"
      className="mb-3"
      onClose={models.forgetRefused}
    >
      <ul className="max-h-40 space-y-1 overflow-y-auto">
        {refused.map((one) => (
          <li key={one.name} className="[overflow-wrap:anywhere]">
            {refusalText(one)}
          </li>
        ))}
      </ul>
    </Banner>
  );
}

/** Why a file was not added, in whole sentences that name it once: "a.gguf: it is truncated. Download it again." */
export function refusalText({ name, error }: { name: string; error: ErrorPayload }): string {
  const [first = '', ...rest] = error.message.split(' ');
  const aboutIt = first === name || first.endsWith(`/${name}`) || first.endsWith(`\\${name}`);
  const about = rest.join(' ');
  const message = aboutIt ? t`${name}: it ${about}` : `${name}: ${error.message}`;
  const ended = /[.!?]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${ended} ${error.hint}` : ended;
}
