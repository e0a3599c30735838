/** How the model in use thinks. Always of this model alone: models differ in it. */

import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { TemplateSupport } from '../../../../electron/contract/engine';
import { limits } from '../../../../electron/contract/limits';
import type { TemplateSettings } from '../../../../electron/contract/settings';
import { i18n } from '../../../language';
import { selectLoadedContext } from '../../../state/slices/engine';
import { selectCurrentModel } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { NumberField } from '../../../ui/NumberField';
import { SwitchField } from '../../../ui/Segmented';
import { Select } from '../../../ui/Select';

const efforts = { low: msg`Low`, medium: msg`Medium`, high: msg`High` };

export function ThinkingSection({ template }: { template: TemplateSettings }) {
  const { settings } = useActions();
  const model = useApp(selectCurrentModel);
  const support = useApp(selectLoadedContext)?.templateSupport;
  const set = (change: Partial<TemplateSettings>) => void settings.update({ template: change });
  const thinks = support?.thinking && (template.thinking || !support.thinkingSwitch);

  return (
    <>
      <p className="-mt-1 text-xs leading-relaxed text-ink-3" data-testid="settings-template-text">
        {model && `${t`For ${model.info?.name || model.fileName} alone.`} `}
        {supportText(support)}
      </p>
      {support?.thinkingSwitch && (
        <SwitchField
          name="thinking"
          label={t`Thinking`}
          testId="settings-thinking"
          on={template.thinking}
          onValue={(thinking) => set({ thinking })}
        />
      )}
      {support?.effort && (
        <Field
          label={t`Reasoning effort`}
          htmlFor="settings-effort"
          inline
          help={t`How much the model is told to think.`}
        >
          <Select
            id="settings-effort"
            data-testid="settings-effort"
            value={template.effort ?? ''}
            onChange={({ target }) => set({ effort: (target.value || null) as TemplateSettings['effort'] })}
            className="w-36"
          >
            <option value="">
              <Trans>Default</Trans>
            </option>
            {Object.entries(efforts).map(([value, label]) => (
              <option key={value} value={value}>
                {i18n._(label)}
              </option>
            ))}
          </Select>
        </Field>
      )}
      {thinks && support.thinkingBudget && (
        <Field
          label={t`Thinking budget`}
          htmlFor="settings-thinkingBudget"
          inline
          help={t`In tokens; then the model has to answer.`}
        >
          <NumberField
            id="settings-thinkingBudget"
            data-testid="settings-thinkingBudget"
            placeholder={t`no limit`}
            nullable
            integer
            min={0}
            max={limits.maxContext}
            value={template.thinkingBudget}
            onCommit={(thinkingBudget) => set({ thinkingBudget })}
          />
        </Field>
      )}
    </>
  );
}

function supportText(support: TemplateSupport | undefined): string {
  if (!support) return t`Whether it thinks shows once it is loaded.`;
  if (!support.thinking) return support.effort ? '' : t`Its chat template knows no thinking.`;
  if (!support.thinkingSwitch) return t`Its chat template has no switch for thinking.`;
  return t`A change can make a chat be read again.`;
}
