/** What a target of the fuzzing is: cases that can be written down, and what becomes of one. */
import type { ErrorPayload } from '@/electron/contract/errors';
import { toErrorPayload } from '@/electron/contract/errors';

export type Random = (below: number) => number;

/** `served`: it was taken; `refused`: with a code that a person gets words for; `problem`: neither, and why */
export type Outcome = { served: true } | { refused: string } | { problem: string };

export interface Attack<Case> {
  /** JSON: what is needed to do it again */
  make(random: Random, index: number): Case;
  run(one: Case): Promise<Outcome>;
  /** cases under way at a time; 1 where it is not said */
  atOnce?: number;
  /** after each of these: rejects where what is attacked is not as it was */
  isWell?(): Promise<void>;
  /** one more figure of the line */
  note?(): string;
  close(): Promise<void>;
}

/** `folder`: of its own, which is removed when it ends. */
export type Target<Case> = (folder: string) => Promise<Attack<Case>>;

/** What an error says of a case: an `internal` one is a bug that nobody thought of. */
export function outcomeOf(error: unknown): Outcome {
  const payload: ErrorPayload = toErrorPayload(error);
  if (payload.code !== 'internal') return { refused: payload.code };
  return { problem: error instanceof Error ? (error.stack ?? error.message) : payload.message };
}

export async function tried(task: () => Promise<unknown>): Promise<Outcome> {
  try {
    await task();
    return { served: true };
  } catch (error) {
    return outcomeOf(error);
  }
}

// Changes of bytes, as lists that can be written down.

export type Edit = { at: number; bytes: number[] } | { cut: number } | { insert: number; bytes: number[] };

const bad = [0, 1, 0x7f, 0x80, 0xff];

/** One to four of them in so many bytes; most lie in the first `head`, where the shape is said. */
export function someEdits(random: Random, length: number, head = length): Edit[] {
  return Array.from({ length: 1 + random(4) }, () => {
    const at = random(Math.max(1, random(4) ? Math.min(head, length) : length));
    const bytes = Array.from({ length: 1 + random(random(3) ? 4 : 16) }, () =>
      random(2) ? random(256) : (bad[random(bad.length)] ?? 0),
    );
    const kind = random(12);
    if (kind === 0) return { cut: at };
    return kind === 1 ? { insert: at, bytes } : { at, bytes };
  });
}

export function edited(original: Uint8Array, edits: readonly Edit[]): Buffer {
  let bytes = Buffer.from(original);
  for (const edit of edits) {
    if ('cut' in edit) bytes = bytes.subarray(0, edit.cut);
    else if ('insert' in edit)
      bytes = Buffer.concat([bytes.subarray(0, edit.insert), Buffer.from(edit.bytes), bytes.subarray(edit.insert)]);
    else
      for (const [index, byte] of edit.bytes.entries())
        if (edit.at + index < bytes.length) bytes[edit.at + index] = byte;
  }
  return bytes;
}
