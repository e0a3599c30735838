/** What a person tells the chat template of a model beside what the app does. */

import { z } from 'zod';

/** of all of them as JSON */
const mostCharacters = 4000;

/** Given by the app, or by a setting of their own. */
const takenVariables = ['messages', 'tools', 'bos_token', 'eos_token', 'add_generation_prompt', 'enable_thinking'];

/** Why a template cannot be told these, as a sentence; null: it can. */
export function variablesProblem(variables: Record<string, unknown>): string | null {
  const names = Object.keys(variables);
  const odd = names.find((name) => !/^[A-Za-z_]\w{0,63}$/.test(name));
  if (odd !== undefined) return `“${odd}” is no name: letters, digits and _ only, 64 at most.`;
  const taken = names.find((name) => takenVariables.includes(name));
  if (taken === 'enable_thinking') return 'enable_thinking is set by the switch for thinking.';
  if (taken) return `${taken} is given by the app. Take it out.`;
  return JSON.stringify(variables).length > mostCharacters
    ? `They have more than ${mostCharacters} characters together.`
    : null;
}

/** `chat_template_kwargs`: what else a template reads, by name. */
export const variablesSchema = z.record(z.string(), z.json()).superRefine((variables, context) => {
  const message = variablesProblem(variables);
  if (message) context.addIssue({ code: 'custom', message });
});
