/** A run as Markdown: what was compared and on what, a table of figures, the curves, and where the answers part. */

import type { AnswerStats } from '../../contract/chats';
import type { CompareColumn, CompareFormat, CompareRun } from '../../contract/compare/compare';
import type { Candidate } from '../../contract/compare/figures';
import { type ColumnModel, hasSeveralModels } from '../../contract/compare/models';
import { missedRecent } from '../../contract/fallbacks';
import { fewTimed, judgementsOf, verdictOf } from '../../contract/lib/judgement';
import { allocatedBytes } from '../../contract/lib/memory';
import { isDeviceName } from '../../contract/limits';

function markdownOf(run: CompareRun): string {
  const parts = [
    `# ${inline(run.name)}`,
    heading(run),
    verdict(run),
    inShort(run),
    figuresTable(run),
    toolCalls(run),
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
      !hasSeveralModels(columns) &&
      `Model: ${inline(model.info.name)} (${inline(model.fileName)}, ${model.info.quantization}, fingerprint ${model.fingerprint})`,
    ...[...new Set(columns.map(modelLine))],
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

/** Of a run of several models; empty: it has one. */
function modelLine({ model }: CompareColumn): string {
  if (!model) return '';
  const file = [model.fileName, model.fingerprint && `fingerprint ${model.fingerprint}`].filter(Boolean).join(', ');
  const load = model.loadMs === null ? 'not loaded for it' : `loaded in ${(model.loadMs / 1000).toFixed(2)} s`;
  return `Model: ${inline(model.name)} (${inline(file)}), ${load}`;
}

function verdict(run: CompareRun): string {
  const found = verdictOf(run);
  if (!found) return '';
  const lines = found.losses.map(({ index, lost }) => {
    const column = run.columns[index];
    return column ? `- ${nameOf(column, run.columns)}: ${lost.join('; ') || 'loses nothing'}` : '';
  });
  return [`## Verdict`, `**${found.advice}** ${found.sentence}`, lines.join('\n')].filter(Boolean).join('\n\n');
}

function toolCalls({ columns }: CompareRun): string {
  const measured = columns.filter(({ tools }) => tools !== null);
  const questions = measured[0]?.tools?.results ?? [];
  if (questions.length === 0) return '';
  const rows = questions.map(({ question }, index) => [
    inline(question),
    ...measured.map(({ tools }) => tools?.results[index]?.fault ?? 'right'),
  ]);
  return ['## Tool calls', table(['', ...measured.map((column) => nameOf(column, columns))], rows)].join('\n\n');
}

function inShort(run: CompareRun): string {
  const lines = judgementsOf(run).map(({ column, grade, advice, sentence }) => {
    const dial = grade ? ` Difference: ${grade}.` : '';
    return `- **${`${nameOf(column, run.columns)}: ${advice}`.trim()}** ${sentence}${dial}`;
  });
  return lines.length === 0 ? '' : ['## In short', lines.join('\n')].join('\n\n');
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
    const unit = difference.own.token === null ? 'words' : 'tokens';
    return [`- ${nameOf(column, columns)}: the first ${difference.index} ${unit} are the same; then ${own}, ${other}.`];
  });
  if (lines.length === 0) return [];
  const hasProbabilities = columns.some(({ difference }) => difference && difference.own.token !== null);
  const legend = hasProbabilities ? ['Probabilities: in the column / in the reference.'] : [];
  return ['## Where answers leave the reference', ...legend, lines.join('\n')];
}

function candidate({ token, text, end, probability, referenceProbability }: Candidate): string {
  const share = (value: number | null) => (value === null ? 'not among the likeliest' : `${(100 * value).toFixed(1)}%`);
  const what = end ? 'the end' : `\`${JSON.stringify(text).replaceAll('`', "'")}\``;
  if (token === null) return what;
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
    const reasons = context
      ? [context.typeK.reason, context.typeV.reason, missedRecent(context.recent)].filter(Boolean)
      : [];
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

// The figures of a column, each with its name and unit: what both tables show.

type Cell = string | number | null;

/** `of`: exact, in the unit of the name; `short`: as a person reads it, bytes as MiB and shares in per cent (`shortName`). */
interface Figure {
  name: string;
  of(column: CompareColumn): Cell;
  short(value: number): string;
}

const whole = (value: number) => String(Math.round(value));
const rate = (value: number) => value.toPrecision(value >= 1000 ? 4 : 3);
const mebibytes = (value: number) => (value / 1024 ** 2).toFixed(value < 100 * 1024 ** 2 ? 2 : 0);
const small = (value: number) => (value === 0 ? '0' : value.toPrecision(3));
const percent = (value: number) => (100 * value).toFixed(1);

function figure(name: string, short: Figure['short'], of: Figure['of']): Figure {
  return { name, short, of };
}

/** Of a few tokens there is none. */
function decodeRate(stats: AnswerStats | null | undefined): number | null {
  return stats && stats.answerTokens >= fewTimed ? stats.tokensPerSecond : null;
}

/** Names carry the unit. */
export const figures: readonly Figure[] = [
  figure('context', whole, ({ context }) => context?.nCtx ?? null),
  figure('KV bytes', mebibytes, ({ memory }) => memory && memory.kvK + memory.kvV),
  figure('KV K bytes', mebibytes, ({ memory }) => memory?.kvK ?? null),
  figure('KV V bytes', mebibytes, ({ memory }) => memory?.kvV ?? null),
  figure('memory bytes', mebibytes, ({ memory }) => memory && allocatedBytes(memory)),
  figure('load ms', whole, ({ model }) => model?.loadMs ?? null),
  figure('TTFT ms', whole, ({ answer }) => answer?.stats?.ttftMs ?? null),
  figure('prompt tok/s', rate, ({ answer }) => answer?.stats?.promptTokensPerSecond ?? null),
  figure('decode tok/s', rate, ({ answer }) => decodeRate(answer?.stats)),
  figure('rounds tok/s', rate, ({ speed }) => speed?.median ?? null),
  figure('rounds', whole, ({ speed }) => speed?.rounds.length ?? null),
  figure('tokens of a round', whole, ({ speed }) => speed?.tokens ?? null),
  figure('speed ratio', small, ({ speed }) => speed?.ratio?.median ?? null),
  figure('answer tokens', whole, ({ answer }) => answer?.stats?.answerTokens ?? null),
  figure('same tokens first', whole, ({ agreement }) => (agreement?.words ? null : (agreement?.prefix ?? null))),
  figure('same tokens share', percent, ({ agreement }) => (agreement?.words ? null : (agreement?.share ?? null))),
  figure('same words first', whole, ({ agreement }) => (agreement?.words ? agreement.prefix : null)),
  figure('same words share', percent, ({ agreement }) => (agreement?.words ? agreement.share : null)),
  figure('mean KLD', small, ({ quality }) => quality?.meanKld ?? null),
  figure('KLD error', small, ({ quality }) => quality?.meanKldError ?? null),
  figure('99.9% KLD', small, ({ quality }) => quality?.kld999 ?? null),
  figure('same top share', percent, ({ quality }) => quality?.sameTop ?? null),
  figure(
    'PPL',
    (value) => value.toPrecision(5),
    ({ quality }) => quality?.perplexity ?? null,
  ),
  figure('scored tokens', whole, ({ quality }) => quality?.tokens ?? null),
  figure('needles found', whole, ({ needles }) => needles?.found ?? null),
  figure('needles', whole, ({ needles }) => needles?.results.length ?? null),
  figure('needle tokens', whole, ({ needles }) => needles?.tokens ?? null),
  figure('tool calls right', whole, ({ tools }) => tools?.right ?? null),
  figure('tool calls', whole, ({ tools }) => tools?.results.length ?? null),
  figure('longest context', whole, ({ longest }) => longest?.nCtx ?? null),
];

function shortName({ name }: Figure): string {
  return name.replace('bytes', 'MiB').replace('share', '%');
}

/** As the configuration has it, with its model where there are several, and the length where the columns differ in it. */
function nameOf({ configuration: { typeK, typeV, nCtx }, model }: CompareColumn, columns: readonly CompareColumn[]) {
  const types = typeK === typeV ? typeK : `${typeK}/${typeV}`;
  const alike = columns.every(({ configuration }) => configuration.nCtx === nCtx);
  const named = model ? `${inline(model.name)}, ${types}` : types;
  return alike ? named : `${named} at ${nCtx}`;
}

/** As the engine made it, where that differs from what was asked. */
function effectiveOf({ context }: CompareColumn): string {
  if (!context) return '';
  const { typeK, typeV } = context;
  return typeK.effective === typeV.effective ? typeK.effective : `${typeK.effective}/${typeV.effective}`;
}

// A run as a file for other people: JSON with everything, CSV with a line for each column, Markdown to read.

const endings: Record<CompareFormat, string> = { markdown: 'md', csv: 'csv', json: 'json' };

export function exportRun(run: CompareRun, format: CompareFormat): { fileName: string; text: string } {
  const words = run.name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  const stem = isDeviceName(words) ? `comparison-${words}` : words || 'comparison';
  const fileName = `${stem}.${endings[format]}`;
  return { fileName, text: textOf(run, format) };
}

function textOf(run: CompareRun, format: CompareFormat): string {
  if (format === 'markdown') return markdownOf(run);
  if (format === 'csv') return csvOf(run);
  return `${JSON.stringify(run, null, 2)}\n`;
}

// A line for each column of a run, exact values; points of curves follow as lines of their own kind.

function csvOf(run: CompareRun): string {
  const { sampling, maxTokens, together, reference: place } = run.request.options;
  const reference = run.columns[place];
  const shared = (model: Pick<ColumnModel, 'fileName' | 'fingerprint'> | null): [string, Cell][] => [
    ['run', run.name],
    ['date', new Date(run.createdAt).toISOString()],
    ['model', model?.fileName ?? ''],
    ['fingerprint', model?.fingerprint ?? ''],
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
    ...shared(null).map(([name]) => name),
  ];
  const lines = run.columns.flatMap((column) => {
    const tail = shared(column.model ?? run.model).map(([, value]) => value);
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
