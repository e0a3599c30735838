import type { Event } from './figures.mjs';
import type { Settings } from './options.mjs';

export class ProgramError extends Error {}
export function measure(settings: Settings, onProgress: (line: string) => void): Promise<Event[]>;
