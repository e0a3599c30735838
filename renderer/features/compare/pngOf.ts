/** All plots of a run in one picture, with what their figures hang on below them. */
import { t } from '@lingui/core/macro';
import type { CompareRun } from '../../../electron/contract/compare/compare';
import { type ColumnModel, hasSeveralModels } from '../../../electron/contract/compare/models';
import { formatCount } from '../../ui/format';
import { columnName, loadText } from './columnText';
import { seriesStyle } from './seriesStyle';

const margin = 24;
const line = 18;

/** @param root the part of the page that holds the plots; null: it has none */
export async function pngOf(root: HTMLElement, run: CompareRun): Promise<Blob | null> {
  const figures = [...root.querySelectorAll('figure')].flatMap((figure) => {
    const canvas = figure.querySelector('canvas');
    const title = figure.querySelector('[data-plot-title]')?.textContent ?? '';
    return canvas ? { canvas, title } : [];
  });
  const context = figures.length > 0 ? document.createElement('canvas').getContext('2d') : null;
  if (!context) return null;
  const { canvas } = context;
  const scale = devicePixelRatio;
  const color = (name: string) => getComputedStyle(root).getPropertyValue(name).trim();
  const { fontFamily } = getComputedStyle(root);
  const width = Math.max(...figures.map((figure) => figure.canvas.width / scale));
  const height = Math.max(...figures.map((figure) => figure.canvas.height / scale)) + 2 * line;
  const across = Math.min(2, figures.length);
  const notes = factsOf(run);
  const top = margin + 3 * line;
  const rows = Math.ceil(figures.length / across);
  canvas.width = (across * (width + margin) + margin) * scale;
  canvas.height = (top + rows * height + (notes.length + 2) * line) * scale;
  context.scale(scale, scale);
  context.fillStyle = color('--paper');
  context.fillRect(0, 0, canvas.width, canvas.height);

  const write = (text: string, x: number, y: number, font: string, ink = '--ink') => {
    context.font = `${font} ${fontFamily}`;
    context.fillStyle = color(ink);
    context.fillText(text, x, y, canvas.width / scale - x - margin);
  };
  write(run.name, margin, margin + line, '600 16px');
  drawLegend(context, run, margin, margin + 2 * line, (text, x, y) => write(text, x, y, '12px', '--ink-2'), color);
  figures.forEach((figure, i) => {
    const x = margin + (i % across) * (width + margin);
    const y = top + Math.floor(i / across) * height;
    write(figure.title, x, y + line, '600 12px');
    context.drawImage(figure.canvas, x, y + 1.5 * line, figure.canvas.width / scale, figure.canvas.height / scale);
  });
  notes.forEach((note, i) => {
    write(note, margin, top + rows * height + (i + 1) * line, '11px', '--ink-3');
  });
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

function drawLegend(
  context: CanvasRenderingContext2D,
  { columns }: CompareRun,
  left: number,
  y: number,
  write: (text: string, x: number, y: number) => void,
  color: (name: string) => string,
): void {
  let x = left;
  columns.forEach((column, index) => {
    const style = seriesStyle(index);
    context.strokeStyle = color(style.color);
    context.lineWidth = 2;
    context.setLineDash(style.dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 26, y);
    context.stroke();
    const name = columnName(column, columns);
    write(name, x + 32, y + 4);
    x += 32 + context.measureText(name).width + 18;
  });
  context.setLineDash([]);
}

/** Model, machine, build, settings and effective types: what each figure hangs on. */
export function factsOf({
  model,
  machine,
  build,
  promptTokens,
  request,
  settings,
  columns,
  createdAt,
}: CompareRun): string[] {
  const { maxTokens, rounds, sampling } = request.options;
  const { temperature } = sampling;
  const { batch } = settings;
  const seed = sampling.seed ?? 0;
  const tokens = formatCount(promptTokens);
  const types = columns.map((column) => `${columnName(column, columns)}: ${effective(column.context)}`).join('; ');
  return [
    model &&
      !hasSeveralModels(columns) &&
      t`Model: ${model.info.name} (${model.fileName}, ${model.info.quantization}, fingerprint ${model.fingerprint})`,
    ...new Set(columns.map(({ model: own }) => (own ? modelFact(own) : null))),
    machine &&
      t`Machine: ${machine.cpu}, ${machine.physicalCores} cores, ${machine.os}, ${machine.backend} ${machine.device}`,
    build && t`Build: Concertina ${build.version}, llama.cpp ${build.upstream}, kernels ${build.kernelVariant}`,
    settings.threads
      ? t`Prompt: ${tokens} tokens; answers of at most ${maxTokens}, ${rounds} rounds, temperature ${temperature}, seed ${seed}, batch ${batch}, threads ${settings.threads}`
      : t`Prompt: ${tokens} tokens; answers of at most ${maxTokens}, ${rounds} rounds, temperature ${temperature}, seed ${seed}, batch ${batch}, threads as many as cores`,
    restsOf(columns) || null,
    t`Effective K/V: ${types}`,
    new Date(createdAt).toISOString(),
  ].filter((text) => typeof text === 'string');
}

function modelFact(model: ColumnModel): string {
  const { name, fileName, fingerprint } = model;
  const load = loadText(model);
  if (fingerprint === '') return t`Model: ${name} (${fileName}), not loaded`;
  return t`Model: ${name} (${fileName}, fingerprint ${fingerprint}), ${load}`;
}

/** How many tokens the plots rest on. */
function restsOf(columns: CompareRun['columns']): string {
  const scored = columns.find(({ quality }) => quality)?.quality?.tokens;
  const timed = columns.find(({ curve }) => curve.length > 0)?.curve[0]?.tokens;
  return [
    timed !== undefined && t`Speed over depth: ${formatCount(timed)} tokens at each point`,
    scored !== undefined && t`Quality: ${formatCount(scored)} tokens of the prompt scored`,
  ]
    .filter(Boolean)
    .join('. ');
}

function effective(context: CompareRun['columns'][number]['context']): string {
  return context ? `${context.typeK.effective}/${context.typeV.effective}` : t`not made`;
}
