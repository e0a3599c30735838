/** What each plot of the history shows, in words, units and colors. */
import type { HistoryPoint } from '../../state/appState';
import { formatBytes, formatContext, formatCount, formatRate } from '../../ui/format';
import { type PlotId, stackedParts } from './historySeries';
import type { MemoryPartId } from './memoryParts';

export interface PlotLine {
  label: string;
  /** a color of tokens.css, by its variable */
  color: string;
}

export interface Plot {
  id: PlotId;
  title: string;
  lines: readonly PlotLine[];
  /** with its unit */
  format: (value: number) => string;
  formatAxis: (value: number) => string;
  /** distances of the lines of the grid */
  steps: number[];
  /** the scale reaches at least this far */
  top: (last: HistoryPoint | undefined) => number;
}

/** Bytes and context lengths are round in powers of two. */
const binarySteps = Array.from({ length: 44 }, (_, power) => 2 ** power);
const decimalSteps = [0.1, 1, 10, 100, 1000, 10_000].flatMap((step) => [step, 2 * step, 5 * step]);

export const partColors: Record<MemoryPartId, string> = {
  weights: '--plate',
  kv: '--accent',
  compute: '--brass',
  draft: '--part-draft',
  prompts: '--fold-lit',
  engine: '--syntax-name',
  app: '--good',
  other: '--part-other',
  free: '--line-strong',
};

const partLabels: Record<MemoryPartId, string> = {
  weights: 'Weights',
  kv: 'KV',
  compute: 'Compute',
  draft: 'Draft',
  prompts: 'Prompts',
  engine: 'Engine',
  app: 'App',
  other: 'Others',
  free: 'Free',
};

const rate = (value: number) => `${formatRate(value)} tok/s`;

export const plots: readonly Plot[] = [
  {
    id: 'answer',
    title: 'Writing',
    lines: [{ label: 'Answer', color: '--accent' }],
    format: rate,
    formatAxis: String,
    steps: decimalSteps,
    top: () => 10,
  },
  {
    id: 'prompt',
    title: 'Reading',
    lines: [{ label: 'Prompt', color: '--syntax-name' }],
    format: rate,
    formatAxis: String,
    steps: decimalSteps,
    top: () => 10,
  },
  {
    id: 'context',
    title: 'Context',
    lines: [{ label: 'In use', color: '--brass' }],
    format: (value) => `${formatCount(value)} tokens`,
    formatAxis: formatContext,
    steps: binarySteps,
    top: (last) => last?.contextSize ?? 1,
  },
  {
    id: 'memory',
    title: 'Memory',
    lines: stackedParts.map((id) => ({ label: partLabels[id], color: partColors[id] })),
    format: formatBytes,
    formatAxis: formatBytes,
    steps: binarySteps,
    top: (last) => last?.memory.total ?? 1,
  },
];
