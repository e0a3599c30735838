export interface Figures {
  files: number;
  /** lines of a file */
  median: number;
  p90: number;
  /** the shape of the window's state (renderer/state/appState.ts) has a limit of its own */
  longest: number;
  /** share of all files */
  smallWithOneImporter: number;
  /** of the fullest folder, folders in it counted as one each */
  entriesOfFolder: number;
  /** files that import one another in a row */
  longestChain: number;
  /** files that reach themselves along their imports */
  filesInCircles: number;
}

export type Limits = Omit<Figures, 'files' | 'median' | 'p90'>;
export const LIMITS: Limits;
export const LEAST_MEDIAN: number;
export function figuresOf(files: Map<string, { lines: number; imports: string[]; values: string[] }>): Figures;
export function outOfBounds(figures: Figures): string[];
