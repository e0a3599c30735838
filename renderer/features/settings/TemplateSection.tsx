/** How the model in use thinks, and what else its chat template is told. Always of this model alone: models differ in it. */

import { useState } from 'react';
import type { TemplateSupport } from '../../../electron/contract/engine';
import { limits } from '../../../electron/contract/limits';
import { type TemplateSettings, variablesProblem } from '../../../electron/contract/settings';
import { selectLoadedContext } from '../../state/slices/engine';
import { selectCurrentModel } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { areaClass, Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { onOff, Segmented } from '../../ui/Segmented';
import { Select } from '../../ui/Select';

const efforts = { low: 'Low', medium: 'Medium', high: 'High' } as const;

export function TemplateSection({ template }: { template: TemplateSettings }) {
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
        <div className="flex items-center justify-between gap-3" data-testid="settings-thinking">
          <span className="text-sm font-medium text-ink">Thinking</span>
          <Segmented
            name="thinking"
            label="Thinking"
            value={template.thinking ? 'on' : 'off'}
            options={onOff}
            onValue={(value) => set({ thinking: value === 'on' })}
          />
        </div>
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
      <VariablesField key={model?.id} variables={template.variables} onVariables={(variables) => set({ variables })} />
    </>
  );
}

function supportText(support: TemplateSupport | undefined): string {
  if (!support) return 'Whether it thinks shows once it is loaded.';
  if (!support.thinking) return support.effort ? '' : 'Its chat template knows no thinking.';
  if (!support.thinkingSwitch) return 'Its chat template has no switch for thinking.';
  return 'A change can make a chat be read again.';
}

interface VariablesFieldProps {
  variables: TemplateSettings['variables'];
  onVariables: (variables: TemplateSettings['variables']) => void;
}

/** Saved when the field is left; what cannot be saved stays, with the reason. */
function VariablesField({ variables, onVariables }: VariablesFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const printed = Object.keys(variables).length === 0 ? '' : JSON.stringify(variables, null, 1).replace(/\n\s*/g, ' ');

  function save(): void {
    if (typed === null) return;
    const read = parseVariables(typed);
    setProblem('problem' in read ? read.problem : null);
    if ('problem' in read) return;
    setTyped(null);
    if (JSON.stringify(read.variables) !== JSON.stringify(variables)) onVariables(read.variables);
  }

  return (
    <Field
      label="Template variables"
      htmlFor="settings-variables"
      help={
        problem === null ? (
          'A JSON object: what else the chat template is told, by name.'
        ) : (
          <span role="alert" className="text-bad" data-testid="settings-variables-problem">
            Not saved. {problem}
          </span>
        )
      }
    >
      <textarea
        id="settings-variables"
        data-testid="settings-variables"
        rows={2}
        spellCheck={false}
        placeholder={'{ "name": true }'}
        aria-invalid={problem !== null || undefined}
        aria-describedby="settings-variables-help"
        value={typed ?? printed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={save}
        className={`${areaClass} font-mono text-xs aria-invalid:border-bad`}
      />
    </Field>
  );
}

/** Nothing typed is an empty object. `problem`: why it cannot be used, as a sentence. */
export function parseVariables(text: string): Pick<TemplateSettings, 'variables'> | { problem: string } {
  if (text.trim() === '') return { variables: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `This is no JSON: ${error instanceof Error ? error.message : String(error)}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: 'It has to be an object: { "name": value }.' };
  const problem = variablesProblem(value as Record<string, unknown>);
  return problem === null ? { variables: value as TemplateSettings['variables'] } : { problem };
}
