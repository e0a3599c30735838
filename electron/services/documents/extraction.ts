/**
 * Has a process of its own take the words out of one document, or draw one of its pages, and ends it when it is not wanted or
 * does not move.
 */
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { type DocumentKind, type PagesRead, pagesReadSchema, type Section } from '../../contract/documents';
import { ConcertinaError, errorPayloadSchema } from '../../contract/errors';
import { limits as contractLimits } from '../../contract/limits';
import {
  type DocumentOrder,
  type DocumentTask,
  documentExits,
  type Extraction,
  type PagePicture,
  type PageTask,
  type ReadingLimits,
  sectionsPerSlice,
} from '../../contract/workerTasks';
import type { ProcessExit, ProcessTransport } from '../engine/engineTransport';
import { isKill, nameOf } from '../engine/watchdog';
import { checkedSections } from './documentStore';

/**
 * What this leaves to the app and an engine lets all of them stay below 1 GB while a document is read that would take all
 * memory there is. PDFs of thousands of pages and texts of 100 MB take about 200 MB beside their own bytes.
 */
const usualLimits: ReadingLimits = {
  ...{ memoryBytes: 450e6, heapMb: 320 },
  ...{ stallSeconds: 60, totalSeconds: 600, ocrPageSeconds: 30 },
};
/** mammoth makes a tree of each element: 560 MB for 100,000 paragraphs; what reads the other office documents does so, too */
const treeLimits: ReadingLimits = { ...usualLimits, memoryBytes: 640e6, heapMb: 512 };
const trees = new Set<DocumentKind>(['docx', 'odt', 'rtf', 'epub', 'pptx', 'odp', 'xlsx', 'ods', 'eml']);
/** the pixels of a photo of some 30 million, as a decoder and Tesseract hold them */
const pictureLimits: ReadingLimits = { ...usualLimits, memoryBytes: 640e6 };
/** A process that says nothing for so long, by the clock, waits for a disk in vain or was stopped. */
const usualSilenceMs = 600_000;

interface ProcessOptions {
  /** the bundle of electron/workers/documents */
  openProcess: () => ProcessTransport;
  signal: AbortSignal;
  limits?: Partial<ReadingLimits> | undefined;
  silenceMs?: number | undefined;
}

export interface ExtractionOptions extends ProcessOptions {
  onProgress: (fraction: number, pages: PagesRead | null) => void;
}

const count = z.number().int().min(0);
const { maxDocumentPages, maxDocumentCharacters, maxDocumentSections } = contractLimits;

const share = z.number().min(0).max(1);
const pagePictureSchema = z.object({
  png: z.instanceof(Uint8Array).refine(({ length }) => length <= contractLimits.maxPagePicture),
  width: count.min(1),
  height: count.min(1),
  marks: z.array(z.object({ x: share, y: share, width: share, height: share })).max(10_000),
});

/** What comes from a process that a foreign file may have taken over. */
const messageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('progress'),
    fraction: z.number().min(0).max(1),
    pages: pagesReadSchema.nullable(),
  }),
  z.object({ type: z.literal('sections'), sections: z.array(z.unknown()).max(sectionsPerSlice) }),
  z.object({
    type: z.literal('done'),
    extraction: z.object({
      characters: count.max(maxDocumentCharacters),
      textBytes: count,
      textSha256: z.string().regex(/^[0-9a-f]{64}$/),
      marks: z.array(z.object({ at: count, byte: count })),
      pages: count.max(maxDocumentPages).nullable(),
      notices: z.array(z.string()),
    }),
  }),
  z.object({ type: z.literal('drawn'), picture: pagePictureSchema }),
  z.object({ type: z.literal('failed'), error: errorPayloadSchema }),
  z.object({ type: z.literal('crashed'), reason: z.string() }),
]);

/** The process has ended when the promise settles, as `inProcess` says. */
export function runExtraction(task: DocumentTask, options: ExtractionOptions): Promise<Extraction> {
  const sections = new SectionCollector();
  return inProcess(task, limitsOf(task), options, async (message, resolve, reject) => {
    if (message.type === 'progress') options.onProgress(message.fraction, message.pages);
    else if (message.type === 'sections') sections.add(await checkedSections(message.sections));
    else if (message.type === 'done' && sections.cover(message.extraction.characters)) {
      resolve({ ...message.extraction, sections: sections.list });
    } else reject(crashed(task.name, 'sections that do not fit its text'));
  });
}

/** `bytes`: of the file, which lies in the memory twice. */
export function drawPage(task: PageTask, bytes: number, options: ProcessOptions): Promise<PagePicture> {
  const limits = { ...usualLimits, memoryBytes: usualLimits.memoryBytes + 2 * bytes, totalSeconds: 60 };
  return inProcess(task, limits, options, (message, resolve, reject) => {
    if (message.type === 'drawn') resolve(message.picture);
    else reject(crashed(task.name, 'an answer that makes no sense'));
  });
}

type Receive<T> = (
  message: Exclude<z.infer<typeof messageSchema>, { type: 'failed' | 'crashed' }>,
  resolve: (value: T) => void,
  reject: (error: ConcertinaError) => void,
) => Promise<void> | void;

/**
 * Rejects with a `ConcertinaError` (`cancelled` when the signal fired). The process has ended when the promise settles, so
 * that its files can be removed.
 */
async function inProcess<T>(
  task: DocumentTask | PageTask,
  usual: ReadingLimits,
  options: ProcessOptions,
  receive: Receive<T>,
): Promise<T> {
  const { openProcess, signal, silenceMs = usualSilenceMs } = options;
  if (signal.aborted) throw canceled();
  const limits = { ...usual, ...options.limits };
  const transport = openProcess();
  const gone = new Promise<ProcessExit>((resolve) => transport.onExit(resolve));
  // what nobody reads would hold the process up
  transport.onOutput(() => undefined);
  let stop: () => void = () => undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const silent = () => reject(saysNothing(task.name, silenceMs));
      let timer = setTimeout(silent, silenceMs);
      const abort = () => reject(canceled());
      signal.addEventListener('abort', abort);
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };

      async function take(raw: unknown): Promise<void> {
        const message = messageSchema.parse(raw);
        if (message.type === 'failed') reject(ConcertinaError.fromPayload(message.error));
        else if (message.type === 'crashed') reject(crashed(task.name, message.reason));
        else await receive(message, resolve, reject);
      }

      // many may come at once: one after the other, with turns of the event loop between them
      let received = Promise.resolve();
      transport.onMessage((raw) => {
        clearTimeout(timer);
        timer = setTimeout(silent, silenceMs);
        received = received
          .then(() => take(raw))
          .catch(() => reject(crashed(task.name, 'an answer that makes no sense')));
      });
      void gone.then((exit) => reject(endOf(exit, task.name, limits)));
      transport.send({ task, limits } satisfies DocumentOrder);
    });
  } finally {
    stop();
    transport.kill();
    await gone;
  }
}

/** A PDF and an office document lie in the memory as a whole, a PDF with scanned pages twice. */
function limitsOf({ kind, bytes }: DocumentTask): ReadingLimits {
  const limits = kind === 'picture' ? pictureLimits : trees.has(kind) ? treeLimits : usualLimits;
  return { ...limits, memoryBytes: limits.memoryBytes + (kind === 'pdf' ? 2 * bytes : bytes) };
}

/** Sections as they come. They follow each other without gaps, or are of no use. */
class SectionCollector {
  readonly list: Section[] = [];
  private fit = true;

  add(sections: Section[]): void {
    for (const section of sections) {
      this.fit &&= section.start === (this.list.at(-1)?.end ?? 0) && section.end >= section.start;
      if (this.list.length < maxDocumentSections) this.list.push(section);
      else this.fit = false;
    }
  }

  cover(characters: number): boolean {
    return this.fit && this.list.at(-1)?.end === characters;
  }
}

export function canceled(): ConcertinaError {
  return new ConcertinaError('cancelled', msg`The document was not attached.`);
}

function endOf(exit: ProcessExit, name: string, { memoryBytes, stallSeconds, totalSeconds }: ReadingLimits) {
  // the system ends a process, too, when its memory runs out
  if (exit.code === documentExits.memory || isKill(exit)) return tooMuchMemory(name, memoryBytes);
  if (exit.code === documentExits.stalled) return givenUp(name, `nothing of it could be read in ${time(stallSeconds)}`);
  if (exit.code === documentExits.late) return givenUp(name, `it was not read in ${time(totalSeconds)}`);
  return crashed(name, nameOf(exit));
}

function saysNothing(name: string, silenceMs: number): ConcertinaError {
  return givenUp(name, `nothing of it could be read for ${time(silenceMs / 1000)}`);
}

function givenUp(name: string, why: string): ConcertinaError {
  return new ConcertinaError(
    'document-invalid',
    msg`${{ name }} was given up: ${{ why }}.`,
    msg`Save it again in the program that made it, or as another kind of file, and attach that.`,
  );
}

function time(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}

function tooMuchMemory(name: string, bytes: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is too large when it is unpacked: it takes more than the ${{ round: Math.round(bytes / 1e6) }} MB that a document may take.`,
    msg`Split it and attach the parts that you need, or save it as plain text and attach that.`,
  );
}

function crashed(name: string, reason: string): ConcertinaError {
  return new ConcertinaError(
    'document-invalid',
    msg`The reading of ${{ name }} ended unexpectedly (${{ reason }}).`,
    msg`Attach it again; if this happens twice, save the file again or as another kind.`,
  );
}
