/** What each plot of the history shows, in words, units and colors. */
import type { MessageDescriptor } from '@lingui/core';
import { msg } from '@lingui/core/macro';
import { i18n } from '../../language';
import type { HistoryPoint } from '../../state/appState';
import { countText } from '../../state/lib/partText';
import { formatBytes, formatContext, formatRate } from '../../ui/format';
import { type PlotId, stackedParts } from './historySeries';
import type { MemoryPartId } from './memoryParts';

export interface PlotLine {
  label: MessageDescriptor;
  /** a color of tokens.css, by its variable */
  color: string;
}

export interface Plot {
  id: PlotId;
  title: MessageDescriptor;
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

const partLabels: Record<MemoryPartId, MessageDescriptor> = {
  weights: msg`Weights`,
  kv: msg`KV`,
  compute: msg({ message: 'Compute', context: 'part of the memory' }),
  draft: msg({ message: 'Draft', context: 'part of the memory' }),
  prompts: msg({ message: 'Prompts', context: 'part of the memory' }),
  engine: msg`Engine`,
  app: msg({ message: 'App', context: 'part of the memory' }),
  other: msg({ message: 'Others', context: 'part of the memory' }),
  free: msg`Free`,
};

const rate = (value: number) => `${formatRate(value)} tok/s`;
const rateAxis = (value: number) => new Intl.NumberFormat(i18n.locale, { useGrouping: false }).format(value);

export const plots: readonly Plot[] = [
  {
    id: 'answer',
    title: msg({ message: 'Writing', context: 'speed' }),
    lines: [{ label: msg`Answer`, color: '--accent' }],
    format: rate,
    formatAxis: rateAxis,
    steps: decimalSteps,
    top: () => 10,
  },
  {
    id: 'prompt',
    title: msg({ message: 'Reading', context: 'speed' }),
    lines: [{ label: msg`Prompt`, color: '--syntax-name' }],
    format: rate,
    formatAxis: rateAxis,
    steps: decimalSteps,
    top: () => 10,
  },
  {
    id: 'context',
    title: msg`Context`,
    lines: [{ label: msg({ message: 'In use', context: 'part of the context' }), color: '--brass' }],
    format: (value) => countText(Math.round(value), 'token'),
    formatAxis: formatContext,
    steps: binarySteps,
    top: (last) => last?.contextSize ?? 1,
  },
  {
    id: 'memory',
    title: msg`Memory`,
    lines: stackedParts.map((id) => ({ label: partLabels[id], color: partColors[id] })),
    format: formatBytes,
    formatAxis: formatBytes,
    steps: binarySteps,
    top: (last) => last?.memory.total ?? 1,
  },
];
