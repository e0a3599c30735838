/**
 * What is known of a file that is half there, in `NAME.part.log` beside `NAME.part`: first what it is to become, then a line for
 * each piece of news. Lines are only added, so a crash costs the last one at most.
 */
import { z } from 'zod';
import { countSchema, hubPartSchema, repoPathSchema, repoSchema, revisionSchema } from '../../contract/hub';
import { appendText, readTextIfThere } from '../lib/files';

/** What every part of a model file has in common: enough to take up the download of a file that no list knows. */
export const originSchema = z.object({
  repo: repoSchema,
  revision: revisionSchema,
  /** path of the first part */
  file: repoPathSchema,
  title: z.string(),
  quant: z.string().nullable(),
  parts: z.array(hubPartSchema).min(1),
});
export type Origin = z.infer<typeof originSchema>;

const headSchema = z.object({ version: z.literal(1), origin: originSchema, path: repoPathSchema });
export type Head = z.infer<typeof headSchema>;

const lineSchema = z.union([
  /** up to here the file is on the disk; `state`: of SHA-256 over all of it, base64 */
  z.object({ end: countSchema.min(1), state: z.string() }),
  /** entity tag of the host that gave the file out */
  z.object({ etag: z.string() }),
  /** two connections met in this chunk, or the app died in it: the first to be suspected */
  z.object({ seam: countSchema }),
  /** this chunk was fetched again and is what the hub sends */
  z.object({ checked: countSchema }),
  /** size, checksum and header were right */
  z.object({ verified: z.literal(true) }),
]);
export type Line = z.infer<typeof lineSchema>;

export interface Known {
  head: Head;
  /** `end` and state of each checkpoint, in order */
  checkpoints: { end: number; state: Uint8Array }[];
  etag: string | null;
  seams: Set<number>;
  checked: Set<number>;
  verified: boolean;
}

/** null: there is none, or its first line cannot be read. */
export async function readSidecar(path: string): Promise<Known | null> {
  const [first, ...rest] = (await readTextIfThere(path))?.split('\n') ?? [];
  const head = headSchema.safeParse(parsed(first ?? ''));
  if (!head.success) return null;
  const known: Known = {
    head: head.data,
    checkpoints: [],
    etag: null,
    seams: new Set(),
    checked: new Set(),
    verified: false,
  };
  for (const text of rest) {
    const line = lineSchema.safeParse(parsed(text));
    if (line.success) apply(known, line.data);
  }
  return known;
}

function apply(known: Known, line: Line): void {
  if ('end' in line) {
    const last = known.checkpoints.at(-1)?.end ?? 0;
    if (line.end > last) known.checkpoints.push({ end: line.end, state: Buffer.from(line.state, 'base64') });
  } else if ('etag' in line) known.etag = line.etag;
  else if ('seam' in line) known.seams.add(line.seam);
  else if ('checked' in line) known.checked.add(line.checked);
  else known.verified = true;
}

export function addLine(path: string, line: Line): Promise<void> {
  // after a torn line this one must stand alone
  return appendText(path, `\n${JSON.stringify(line)}\n`, false);
}

export function headText(head: Head): string {
  return `${JSON.stringify(head)}\n`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
