import type { Result } from './report.mjs';

export function writeDocument(result: Result): string[];
export function replaceFigures(text: string, figures: string): string;
