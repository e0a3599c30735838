export interface Patch {
  name: string;
  file: string;
  text: string;
}
export interface PatchSize {
  files: number;
  hunks: number;
  added: number;
  removed: number;
}

export function readSeries(): Patch[];
export interface ParsedPatch {
  header: string;
  files: string[];
  hunks: number;
  added: number;
  removed: number;
}

export function parsePatch(text: string): ParsedPatch;
export function seriesSize(): {
  engine: PatchSize;
  tests: PatchSize;
  metal: PatchSize;
  template: PatchSize;
};
export function exportSeries(commit: string): Promise<(Patch & { exported: string })[]>;
