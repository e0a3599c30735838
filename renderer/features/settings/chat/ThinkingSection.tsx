/** How the model in use thinks. Always of this model alone: models differ in it. */

import type { TemplateSupport } from '../../../../electron/contract/engine';
import { limits } from '../../../../electron/contract/limits';
import type { TemplateSettings } from '../../../../electron/contract/settings';
import { selectLoadedContext } from '../../../state/slices/engine';
import { selectCurrentModel } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { NumberField } from '../../../ui/NumberField';
import { SwitchField } from '../../../ui/Segmented';
import { Select } from '../../../ui/Select';

const efforts = { low: 'Low', medium: 'Medium', high: 'High' } as const;

export function ThinkingSection({ template }: { template: TemplateSettings }) {
  const { settings } = useActions();
  const model = useApp(selectCurrentModel);
  const support = useApp(selectLoadedContext)?.templateSupport;
  const set = (change: Partial<TemplateSettings>) => void settings.update({ template: change });
  const thinks = support?.thinking && (template.thinking || !support.thinkingSwitch);

  return (
    <>
      <p className="-mt-1 text-xs leading-relaxed text-ink-3" data-testid="settings-template-text">
        {model && `For ${model.info?.name || model.fileName} alone. `}
        {supportText(support)}
      </p>
      {support?.thinkingSwitch && (
        <SwitchField
          name="thinking"
          label="Thinking"
          testId="settings-thinking"
          on={template.thinking}
          onValue={(thinking) => set({ thinking })}
        />
      )}
      {support?.effort && (
        <Field label="Reasoning effort" htmlFor="settings-effort" inline help="How much the model is told to think.">
          <Select
            id="settings-effort"
            data-testid="settings-effort"
            value={template.effort ?? ''}
            onChange={({ target }) => set({ effort: (target.value || null) as TemplateSettings['effort'] })}
            className="w-36"
          >
            <option value="">Default</option>
            {Object.entries(efforts).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
      )}
      {thinks && support.thinkingBudget && (
        <Field
          label="Thinking budget"
          htmlFor="settings-thinkingBudget"
          inline
          help="In tokens; then the model has to answer."
        >
          <NumberField
            id="settings-thinkingBudget"
            data-testid="settings-thinkingBudget"
            placeholder="no limit"
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
  if (!support) return 'Whether it thinks shows once it is loaded.';
  if (!support.thinking) return support.effort ? '' : 'Its chat template knows no thinking.';
  if (!support.thinkingSwitch) return 'Its chat template has no switch for thinking.';
  return 'A change can make a chat be read again.';
}
