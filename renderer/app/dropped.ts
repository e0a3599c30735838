/** What is dropped: texts go into the question, everything else is offered to the model list, which says what it refuses. */
import { limits } from '../../electron/shared/limits';

const textEndings =
  /\.(txt|text|md|markdown|rst|org|tex|csv|tsv|json|jsonl|ya?ml|toml|ini|xml|html?|css|log|srt|vtt|[cm]?[jt]sx?|py|rb|rs|go|c|h|cc|cpp|hpp|java|kt|swift|cs|php|sh|sql|lua|r)$/i;

export interface Dropped {
  texts: File[];
  models: File[];
}

export function sortDropped(files: readonly File[]): Dropped {
  const isText = (file: File) => file.type.startsWith('text/') || textEndings.test(file.name);
  return { texts: files.filter(isText), models: files.filter((file) => !isText(file)) };
}

/** The text of a file, or why it is none that can be sent. */
export async function readText(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > limits.maxMessage * 4) return { problem: `${file.name} is too long for one message.` };
  const text = await file.text();
  if (text.includes('\0')) return { problem: `${file.name} is not a text file.` };
  if (text.trim() === '') return { problem: `${file.name} is empty.` };
  if (text.length > limits.maxMessage) return { problem: `${file.name} is too long for one message.` };
  return { text };
}
