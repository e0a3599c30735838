/** A run as a file for other people: JSON with everything, CSV with a line for each column, Markdown to read. */
import type { CompareFormat, CompareRun } from '../../contract/compare';
import { markdownOf } from './compareExport';
import { csvOf } from './exportCsv';

const endings: Record<CompareFormat, string> = { markdown: 'md', csv: 'csv', json: 'json' };

export function exportRun(run: CompareRun, format: CompareFormat): { fileName: string; text: string } {
  const words = run.name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  const fileName = `${words || 'comparison'}.${endings[format]}`;
  return { fileName, text: textOf(run, format) };
}

function textOf(run: CompareRun, format: CompareFormat): string {
  if (format === 'markdown') return markdownOf(run);
  if (format === 'csv') return csvOf(run);
  return `${JSON.stringify(run, null, 2)}\n`;
}
