import type { Settings } from './options.mjs';
import type { Result } from './report.mjs';

export function documentShapes(settings: Settings): Settings[];
export function writeDocument(results: Result[]): string[];
export function replaceFigures(text: string, figures: string): string;
