/** What else the chat template of the model in use is given. Always of this model alone: models differ in it. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useState } from 'react';
import { variablesProblem } from '../../../../electron/contract/lib/domains/templateVariables';
import type { TemplateSettings } from '../../../../electron/contract/settings';
import { selectCurrentModel } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { areaClass, Field } from '../../../ui/Field';

export function VariablesSection({ template: { variables } }: { template: TemplateSettings }) {
  const { settings } = useActions();
  const model = useApp(selectCurrentModel);
  return (
    <VariablesField
      key={model?.id}
      variables={variables}
      onVariables={(changed) => void settings.update({ template: { variables: changed } })}
    />
  );
}

interface VariablesFieldProps {
  variables: TemplateSettings['variables'];
  onVariables: (variables: TemplateSettings['variables']) => void;
}

const form = '{ "name": value }';
const example = '{ "name": true }';

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
      label={t`Template variables`}
      htmlFor="settings-variables"
      help={
        problem === null ? (
          t`A JSON object: what else the chat template is told, by name.`
        ) : (
          <span role="alert" className="text-bad" data-testid="settings-variables-problem">
            <Trans>Not saved. {problem}</Trans>
          </span>
        )
      }
    >
      <textarea
        id="settings-variables"
        data-testid="settings-variables"
        rows={2}
        spellCheck={false}
        placeholder={example}
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
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: t`This is no JSON: ${reason}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: t`It has to be an object: ${form}.` };
  const problem = variablesProblem(value as Record<string, unknown>);
  return problem === null ? { variables: value as TemplateSettings['variables'] } : { problem };
}
