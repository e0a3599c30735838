export interface Figures {
  files: number;
  /** lines of a file */
  median: number;
  p90: number;
  longest: number;
  /** share of all files */
  smallWithOneImporter: number;
  /** of the fullest folder, folders in it counted as one each */
  entriesOfFolder: number;
  /** files that import one another in a row */
  longestChain: number;
}

export type Limits = Pick<Figures, 'longest' | 'smallWithOneImporter' | 'entriesOfFolder' | 'longestChain'>;
export const LIMITS: Limits;
export function figuresOf(files: Map<string, { lines: number; imports: string[]; values: string[] }>): Figures;
export function tooHigh(figures: Figures): string[];
