/** A run as Markdown: what was compared and on what, a table of figures, the curves, and where the answers part. */
import type { CompareColumn, CompareRun } from '../../contract/compare';
import type { Candidate } from '../../contract/compareFigures';
import { effectiveOf, figures, nameOf, shortName } from './exportCells';

export function markdownOf(run: CompareRun): string {
  const parts = [
    `# ${inline(run.name)}`,
    heading(run),
    figuresTable(run),
    ...curveTables(run),
    ...differences(run),
    ...answers(run),
    ...notes(run),
    settings(run),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function heading({
  model,
  machine,
  build,
  promptTokens,
  createdAt,
  state,
  error,
  request,
  columns,
}: CompareRun): string {
  const reference = columns[request.options.reference];
  const lines = [
    model &&
      `Model: ${inline(model.info.name)} (${inline(model.fileName)}, ${model.info.quantization}, fingerprint ${model.fingerprint})`,
    machine &&
      `Machine: ${inline(machine.cpu)}, ${machine.physicalCores} cores, ${inline(machine.os)}, ${inline([machine.backend, machine.device].join(' '))}`,
    build &&
      `Build: Concertina ${build.version}, llama.cpp ${build.upstream}, kernels ${build.kernelVariant}, SIMD ${build.simd} (weights ${build.simdWeights})`,
    `Prompt: ${promptTokens} tokens. Reference: ${reference ? nameOf(reference, columns) : 'none'}. ${new Date(createdAt).toISOString()}`,
    state !== 'done' && `State: ${state}${error ? `. ${inline(error.message)}` : ''}`,
  ];
  return lines
    .filter(Boolean)
    .map((line) => `- ${line}`)
    .join('\n');
}

/** A line for each figure that a column has, since columns are few. Bytes in MiB, as the engine allocated them. */
function figuresTable({ columns }: CompareRun): string {
  const shown = figures.filter((figure) => columns.some((column) => figure.of(column) !== null));
  const head = ['', ...columns.map((column) => nameOf(column, columns))];
  const effective = columns.map((column) =>
    column.state === 'done' ? effectiveOf(column) : `${effectiveOf(column)} (${column.state})`.trim(),
  );
  const rows = shown.map((figure) => [
    shortName(figure),
    ...columns.map((column) => {
      const value = figure.of(column);
      return typeof value === 'number' ? figure.short(value) : (value ?? '-');
    }),
  ]);
  return table(head, [['effective', ...effective], ...rows]);
}

function curveTables({ columns }: CompareRun): string[] {
  const depths = [...new Set(columns.flatMap(({ curve }) => curve.map(({ depth }) => depth)))].sort((a, b) => a - b);
  if (depths.length === 0) return [];
  const rows = (value: (point: CompareColumn['curve'][number]) => string) =>
    columns
      .filter(({ curve }) => curve.length > 0)
      .map((column) => [
        nameOf(column, columns),
        ...depths.map((depth) => {
          const point = column.curve.find((one) => one.depth === depth);
          return point ? value(point) : '-';
        }),
      ]);
  const head = ['K/V', ...depths.map(String)];
  return [
    '## Over depth',
    `Decode tok/s with so many tokens in the cache:\n\n${table(
      head,
      rows((point) => point.tokensPerSecond.toPrecision(3)),
    )}`,
    `KV MiB of a context of that length:\n\n${table(
      head,
      rows((point) => (point.kvBytes / 1024 ** 2).toFixed(2)),
    )}`,
  ];
}

function differences({ columns, request }: CompareRun): string[] {
  const reference = columns[request.options.reference];
  const lines = columns.flatMap((column) => {
    const { difference } = column;
    if (!difference || !reference) return [];
    const own = `${nameOf(column, columns)} wrote ${candidate(difference.own)}`;
    const other = `${nameOf(reference, columns)} wrote ${candidate(difference.reference)}`;
    return [`- ${nameOf(column, columns)}: the first ${difference.index} tokens are the same; then ${own}, ${other}.`];
  });
  if (lines.length === 0) return [];
  return ['## Where answers leave the reference', 'Probabilities: in the column / in the reference.', lines.join('\n')];
}

function candidate({ text, end, probability, referenceProbability }: Candidate): string {
  const share = (value: number | null) => (value === null ? 'not among the likeliest' : `${(100 * value).toFixed(1)}%`);
  const what = end ? 'the end' : `\`${JSON.stringify(text).replaceAll('`', "'")}\``;
  return `${what} (${share(probability)} / ${share(referenceProbability)})`;
}

function answers({ columns }: CompareRun): string[] {
  const written = columns.filter(({ answer }) => answer && answer.text !== '');
  if (written.length === 0) return [];
  const quoted = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n');
  return [
    '## Answers',
    ...written.map((column) => `${nameOf(column, columns)}:\n\n${quoted(column.answer?.text ?? '')}`),
  ];
}

function notes({ notes: whole, columns }: CompareRun): string[] {
  const fallbacks = columns.flatMap((column) => {
    const { context } = column;
    const reasons = context ? [context.typeK.reason, context.typeV.reason].filter(Boolean) : [];
    const problem = column.error ? [column.error.message] : [];
    return [...new Set([...reasons, ...column.notes, ...problem])].map((note) => `${nameOf(column, columns)}: ${note}`);
  });
  const lines = [...whole, ...fallbacks];
  return lines.length === 0 ? [] : ['## Notes', lines.map((line) => `- ${inline(line)}`).join('\n')];
}

function settings({ settings: shared, request }: CompareRun): string {
  const { nCtx: _n, typeK: _k, typeV: _v, ...context } = shared;
  const { sampling, quality, needle, curve, ...options } = request.options;
  return `## Settings\n\n\`\`\`json\n${JSON.stringify({ context, sampling, options, quality, needle, curve }, null, 2)}\n\`\`\``;
}

/** A name must not end a table or begin a heading. */
function inline(text: string): string {
  return text.replace(/[\r\n|]+/g, ' ');
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
