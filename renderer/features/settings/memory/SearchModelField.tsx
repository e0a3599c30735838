/** Which embedding model of the person's ranks passages beside their words, and what it takes. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { SearchModel } from '../../../../electron/contract/documents';
import type { ModelEntry } from '../../../../electron/contract/models';
import { selectSearchModel } from '../../../state/slices/documents';
import { makesVectors, selectModels } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { formatBytes, formatCount } from '../../../ui/format';
import { Select } from '../../../ui/Select';

/** `value`: id of a model, as it is saved; null: none */
export function SearchModelField({ value }: { value: string | null }) {
  const models = (useApp(selectModels) ?? []).filter(makesVectors);
  const status = useApp(selectSearchModel);
  const { settings } = useActions();
  const chosen = models.find(({ places }) => places.some(({ id }) => id === value));
  return (
    <Field
      label={t`Search model`}
      htmlFor="settings-search-model"
      help={
        <>
          <Trans>
            An embedding model of yours finds passages by what they mean, beside their words. It may help or not: that
            depends on the model and on your documents. The guide to documents says how to measure it.
          </Trans>
          {models.length === 0 &&
            ` ${t`None is on this computer: add a GGUF file of one, such as nomic-embed-text, to the models.`}`}
        </>
      }
    >
      <Select
        id="settings-search-model"
        data-testid="settings-search-model"
        aria-describedby="settings-search-model-help"
        className="w-full"
        value={chosen?.id ?? value ?? ''}
        onChange={({ target }) => void settings.update({ documents: { searchModel: target.value || null } })}
      >
        <option value="">{t`None: by words alone`}</option>
        {value !== null && !chosen && <option value={value}>{t`A model whose file is gone`}</option>}
        {models.map((model) => (
          <option key={model.id} value={model.id} disabled={model.problem !== null}>
            {nameOf(model)} ({formatBytes(model.fileBytes)})
          </option>
        ))}
      </Select>
      {value !== null && status?.modelId && (
        <p className="text-xs text-ink-2" role="status" data-testid="search-model-status">
          {status.problem ? (
            <span className="text-warn">
              {status.problem.message} {status.problem.hint}{' '}
              <Trans>Until then passages are found by words alone.</Trans>
            </span>
          ) : (
            statusText(status)
          )}
        </p>
      )}
    </Field>
  );
}

function nameOf({ info, fileName }: ModelEntry): string {
  return info?.name || fileName;
}

function statusText({ needs, running, bytes, reading }: SearchModel): string {
  if (needs === null) return t`It is being looked at.`;
  const sentences = [t`Takes ${formatBytes(needs)} of memory while it is in use.`];
  if (!running) sentences.push(t`Not in memory now: a search loads it.`);
  else if (bytes === null) sentences.push(t`In use now.`);
  else sentences.push(t`In use now: its process holds ${formatBytes(bytes)}.`);
  if (reading)
    sentences.push(t`It reads a document: ${formatCount(reading.done)} of ${formatCount(reading.all)} passages.`);
  return sentences.join(' ');
}
