/** `--estimate FILE`: what a model takes of this machine and how long its context can be. Loads nothing, changes no setting. */
import { basename } from 'node:path';
import { sizeText } from '../contract/errors';
import { type ContextFit, requestedLength } from '../contract/fit';
import type { ContextSettings } from '../contract/settings';
import type { ProcessTransport } from '../services/engine/engineTransport';
import { ModelInspector } from '../services/engine/modelInspector';
import type { Logger } from '../services/lib/logger';

export interface EstimateQuestion {
  path: string;
  context: ContextSettings;
}

/** Asks a process of its own; the text to print. */
export async function estimateText(
  question: EstimateQuestion,
  openInspector: () => ProcessTransport,
  log: Logger,
): Promise<string> {
  const inspector = new ModelInspector(openInspector, log);
  try {
    return fitText(question, await inspector.fit(question));
  } finally {
    await inspector.close();
  }
}

export function fitText(
  { path, context }: EstimateQuestion,
  { estimate, budgets, trained, marks }: ContextFit,
): string {
  const { weights, kvK, kvV, kvF16, compute, typeK, typeV } = estimate;
  const reasons = [typeK.reason && `K: ${typeK.reason}`, typeV.reason && `V: ${typeV.reason}`].filter(Boolean);
  const parts = [
    ['weights', sizeText(weights)],
    ['KV cache', sizeText(kvK + kvV), kvF16 > kvK + kvV ? `${sizeText(kvF16)} as f16` : ''],
    ['compute buffers', sizeText(compute), 'with recurrent state, where there is any'],
    ['together', sizeText(weights + kvK + kvV + compute)],
  ];
  const verdicts = budgets.map(({ name, needed, available, total }) => [
    name,
    needed <= available ? 'fits' : 'does not fit',
    `${sizeText(needed)} needed, ${sizeText(available)} free for it, ${sizeText(total)} in all`,
  ]);
  const lengths = marks.map(({ effectiveK, effectiveV, nCtx, bytes }) => [
    effectiveK,
    effectiveV,
    nCtx > 0 ? String(nCtx) : 'none',
    nCtx > 0 ? sizeText(bytes) : '',
  ]);
  return [
    `${basename(path)}, trained for ${trained > 0 ? `${trained} tokens` : 'a length that it does not say'}`,
    `\nA context of ${requestedLength(context, trained)} tokens, K ${typeK.effective}, V ${typeV.effective}`,
    ...reasons,
    table([...parts, ...verdicts]),
    '\nThe longest contexts that fit now',
    table([['K', 'V', 'tokens', 'together'], ...distinct(lengths)]),
  ].join('\n');
}

/** The asked pair comes first, and again among the usual ones. */
function distinct(rows: string[][]): string[][] {
  return rows.filter((row, index) => rows.findIndex((other) => other.join() === row.join()) === index);
}

export function table(rows: string[][]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, text.length);
  }
  const line = (row: string[]) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => `  ${line(row)}`.trimEnd()).join('\n');
}
