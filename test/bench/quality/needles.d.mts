import type { Context } from '../../../electron/engine/native/types';

export interface Document {
  text: string;
  items: { question: string; answer: string }[];
}

export const FACTS: number;
export const SHALLOWEST: number;
export function makeDocuments(
  text: string,
  count: (text: string) => number,
  depth: number,
  documents: number,
): Document[];
export function ask(
  context: Pick<Context, 'generate'>,
  documents: Document[],
  onItem?: () => void,
): Promise<boolean[]>;
