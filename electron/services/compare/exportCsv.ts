/** A line for each column of a run, exact values; points of curves follow as lines of their own kind. */
import type { CompareRun } from '../../contract/compare';
import { type Cell, effectiveOf, figures, nameOf } from './exportCells';

export function csvOf(run: CompareRun): string {
  const { sampling, maxTokens, together, reference: place } = run.request.options;
  const reference = run.columns[place];
  const shared: [string, Cell][] = [
    ['run', run.name],
    ['date', new Date(run.createdAt).toISOString()],
    ['model', run.model?.fileName ?? ''],
    ['fingerprint', run.model?.fingerprint ?? ''],
    ['machine', run.machine ? `${run.machine.cpu}, ${run.machine.device}` : ''],
    ['version', run.build?.version ?? ''],
    ['llama.cpp', run.build?.upstream ?? ''],
    ['kernels', run.build?.kernelVariant ?? ''],
    ['prompt tokens', run.promptTokens],
    ['reference', reference ? nameOf(reference, run.columns) : ''],
    ['temperature', sampling.temperature],
    ['seed', sampling.seed ?? 0],
    ['answer tokens at most', maxTokens],
    ['together', together ? 'yes' : 'no'],
    ['batch', run.settings.batch],
    ['threads', run.settings.threads || 'as many as cores'],
  ];
  const head = [
    'kind',
    'types',
    'effective',
    'state',
    'depth',
    ...figures.map(({ name }) => name),
    ...shared.map(([name]) => name),
  ];
  const tail = shared.map(([, value]) => value);
  const lines = run.columns.flatMap((column) => {
    const start = [nameOf(column, run.columns), effectiveOf(column), column.state];
    const points = column.curve.map((point) => {
      const values: Record<string, Cell> = {
        'KV bytes': point.kvBytes,
        'decode tok/s': point.tokensPerSecond,
        'prompt tok/s': point.promptTokensPerSecond,
      };
      return ['point', ...start, point.depth, ...figures.map(({ name }) => values[name] ?? null), ...tail];
    });
    return [['column', ...start, null, ...figures.map((figure) => figure.of(column)), ...tail], ...points];
  });
  return [head, ...lines]
    .map((cells) => cells.map(csvCell).join(','))
    .join('\r\n')
    .concat('\r\n');
}

/** RFC 4180; a text that a spreadsheet would take for a formula is kept one. */
function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
