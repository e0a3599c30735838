/** Pure work on the form: what it begins with, and the request that it stands for. */

import { t } from '@lingui/core/macro';
import {
  type CompareConfiguration,
  type ComparePrompt,
  type CompareRequest,
  maxConfigurations,
  minConfigurations,
} from '../../../electron/contract/compare/compare';
import type { OperationInput } from '../../../electron/contract/contract';
import type { CacheChoice, CacheType } from '../../../electron/contract/settings';
import type { CompareForm, DraftDocument, FormRow } from '../appState';
import { attachmentsOf } from './attach';

const usualTypes: readonly CacheType[] = ['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3'];
/** of the text: near its beginning, in its middle, near its end */
export const needleDepths = [0.1, 0.5, 0.9];
const firstDepth = 2048;

let keys = 0;

export function row(typeK: CacheChoice, typeV: CacheChoice, nCtx: number, modelId?: string): FormRow {
  keys += 1;
  return { key: keys, typeK, typeV, nCtx, ...(modelId !== undefined && { modelId }) };
}

export function newForm(nCtx: number): CompareForm {
  const rows = usualTypes.map((type) => row(type, type, nCtx));
  return {
    ...{ modelId: null, kind: 'text', text: '', asIs: false, question: '', chat: null },
    ...{ rows, reference: rows[0]?.key ?? 0 },
    ...{ maxTokens: 256, rounds: 3, together: false, quality: true, qualityTokens: 4096, needle: false, curve: false },
  };
}

/** The form as it stood before a run; its documents are not in it. */
export function formOf({ modelId, prompt, configurations, options }: CompareRequest, title: string): CompareForm {
  const rows = configurations.map((one) => row(one.typeK, one.typeV, one.nCtx, one.modelId));
  const { maxTokens, rounds, together, quality, needle, curve } = options;
  const form = newForm(rows[0]?.nCtx ?? 0);
  return {
    ...form,
    ...{
      modelId,
      kind: prompt.kind === 'check' ? form.kind : prompt.kind,
      rows,
      reference: rows[options.reference]?.key ?? 0,
    },
    ...{ maxTokens, rounds, together, needle: needle !== null, curve: curve !== null },
    ...{ quality: quality !== null, qualityTokens: quality?.tokens ?? form.qualityTokens },
    ...(prompt.kind === 'text' && { text: prompt.text, asIs: prompt.asIs }),
    ...(prompt.kind === 'documents' && { question: prompt.question }),
    chat: prompt.kind === 'chat' ? { chatId: prompt.chatId, leafId: prompt.leafId, title } : null,
  };
}

/** `usual`: the model of the form, which the rows need not name */
export function configurationsOf(rows: readonly FormRow[], usual: string | null): CompareConfiguration[] {
  return rows.map(({ key: _, modelId, ...cache }) => ({
    ...cache,
    ...(modelId !== undefined && modelId !== usual && { modelId }),
  }));
}

/** The row of another model; that of the form, `usual`, is not named. */
export function ofModel({ modelId: _, ...row }: FormRow, modelId: string, usual: string | null): FormRow {
  return { ...row, ...(modelId !== usual && { modelId }) };
}

/** Beside `usual`, the model of the form. */
export function otherModelsOf({ rows }: Pick<CompareForm, 'rows'>, usual: string | null): string[] {
  return [...new Set(configurationsOf(rows, usual).flatMap(({ modelId }) => modelId ?? []))];
}

/**
 * With another model under the types of the reference. Rows that nobody has changed give way to these two: who sets two models side by
 * side means no five types of one. No others are lost.
 */
export function withModel(form: CompareForm, modelId: string): Pick<CompareForm, 'rows' | 'reference'> {
  const { rows } = form;
  const base = rows.find(({ key }) => key === form.reference) ?? rows[0];
  if (!base) return form;
  const added = row(base.typeK, base.typeV, base.nCtx, modelId);
  return { rows: [...(areUsual(rows) ? [base] : rows), added], reference: base.key };
}

function areUsual(rows: readonly FormRow[]): boolean {
  const isUsual = ({ typeK, typeV, modelId }: FormRow, index: number) =>
    typeK === usualTypes[index] && typeV === typeK && modelId === undefined;
  return rows.length === usualTypes.length && rows.every(isUsual);
}

/** Another pair of types than those that are there for the last row's model: the first one that is not. */
export function nextRow(rows: readonly FormRow[]): FormRow {
  const { nCtx = 0, modelId } = rows.at(-1) ?? {};
  const ofModel = rows.filter((one) => one.modelId === modelId);
  const taken = new Set(ofModel.map(({ typeK, typeV }) => `${typeK} ${typeV}`));
  const pairs: [CacheType, CacheType][] = [
    ...usualTypes.map((type): [CacheType, CacheType] => [type, type]),
    ['turbo4', 'turbo3'],
  ];
  const [typeK, typeV] = pairs.find(([k, v]) => !taken.has(`${k} ${v}`)) ?? ['turbo4', 'turbo4'];
  return row(typeK, typeV, nCtx, modelId);
}

/** 0, 2K and on by doubling, and the deepest that leaves room for the measured steps. */
export function curveDepths(nCtx: number): number[] {
  const depths = [0];
  for (let depth = firstDepth; depth < nCtx && depths.length < 15; depth *= 2) depths.push(depth);
  const deepest = nCtx - 64;
  return deepest > (depths.at(-1) ?? 0) ? [...depths, deepest] : depths;
}

/** What keeps the form from being sent, as a sentence; null: nothing does. */
export function missingOf(form: CompareForm, documents: readonly DraftDocument[]): string | null {
  const { rows } = form;
  if (rows.length < minConfigurations) return t`Two configurations are needed at the least.`;
  if (rows.length > maxConfigurations) return t`${maxConfigurations} configurations are the most.`;
  if (new Set(rows.map(({ key: _, ...row }) => JSON.stringify(Object.entries(row).sort()))).size < rows.length) {
    return t`Two configurations are the same.`;
  }
  return missingOfPrompt(form, documents);
}

/** The same for the prompt alone. */
export function missingOfPrompt(form: CompareForm, documents: readonly DraftDocument[]): string | null {
  const { kind } = form;
  if (kind === 'text' && form.text.trim() === '') return t`Write a prompt first.`;
  if (kind === 'chat' && !form.chat) return t`Open a chat with a question first.`;
  if (kind !== 'documents') return null;
  if (documents.length === 0) return t`Add a document first.`;
  if (documents.some(({ error }) => error)) return t`A document could not be read. Remove it, or try it again.`;
  if (documents.some(({ info }) => !info)) return t`A document is not read yet.`;
  return form.question.trim() === '' ? t`Write a question about the documents.` : null;
}

export function requestOf(
  form: CompareForm,
  documents: readonly DraftDocument[],
  modelId: string,
): OperationInput<'compare.start'> {
  const { rows, reference, maxTokens, rounds, together, quality, qualityTokens, needle, curve } = form;
  const deepest = Math.max(...rows.map(({ nCtx }) => nCtx));
  return {
    modelId,
    prompt: promptOf(form, documents),
    configurations: configurationsOf(rows, modelId),
    options: {
      reference: Math.max(
        0,
        rows.findIndex(({ key }) => key === reference),
      ),
      // models take turns in memory
      ...{ maxTokens, rounds, together: together && otherModelsOf(form, modelId).length === 0 },
      quality: quality ? { tokens: qualityTokens } : null,
      needle: needle ? { depths: needleDepths } : null,
      curve: curve ? { depths: curveDepths(deepest) } : null,
    },
  };
}

export function promptOf(form: CompareForm, documents: readonly DraftDocument[]): ComparePrompt {
  const { kind, text, asIs, question, chat } = form;
  if (kind === 'chat' && chat) return { kind, chatId: chat.chatId, leafId: chat.leafId };
  if (kind === 'documents') return { kind, attachments: attachmentsOf(documents), question };
  return { kind: 'text', text, asIs };
}

export function planKey(modelId: string, rows: readonly FormRow[]): string {
  return JSON.stringify([modelId, configurationsOf(rows, modelId)]);
}
