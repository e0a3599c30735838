/**
 * Counts tokens exactly, and the same text only once. A text is cut where a line begins, at places that its own words
 * choose, so that a keystroke behind a long document changes one piece of it; the tokens of each piece are remembered.
 */
import { createHash } from 'node:crypto';
import type { ChatMessage, Model, PromptOptions } from './native/types';

/**
 * Where no token lies across; see `Model.splitsAtLines`. Not behind a sign that could end a special token: some of those
 * swallow the line break.
 */
const lineStart = /(?<=[\p{L}\p{N}.,;:!?"'’”)][^\S\n]{0,8}\n{1,8})(?=[A-Za-z0-9]|\[(?!\/?[A-Z_]+\]))/gu;
/** one line start of so many, on average, is a cut: a piece is a page or so */
const linesOfPiece = 16;
/** letters of a line that decide it */
const decisive = 12;
/** pieces that are remembered: about 100 bytes each */
const mostRemembered = 200_000;
/** pieces of one call to the engine: others come to their turn in between */
const piecesOfCall = 64;

type Counting = Pick<Model, 'splitsAtLines' | 'countTexts' | 'renderChat' | 'tokenize' | 'mediaMarker'>;

/** Ends of a prompt stand alone; everything else stands between lines, and is framed with some to be counted. */
interface Piece {
  text: string;
  first: boolean;
  last: boolean;
}

/** Tokens of the frame, and of the marks that begin and end a prompt. */
interface Frame {
  splits: boolean;
  before: number;
  behind: number;
  special: number;
}

/** some tokenizers begin a text in another way than a line, and look at the letter behind a line break */
const letter = 'a';
const before = `${letter}\n`;

export class TokenCounter {
  private readonly known = new Map<string, number>();
  private measured: Promise<Frame> | null = null;

  constructor(private readonly model: Counting) {}

  /**
   * Of the prompt that the model would be given for these messages. `countMedia`: of an image or sound; what stands before it and
   * behind it is read as two texts.
   */
  async countChat(
    messages: ChatMessage[],
    options: PromptOptions,
    countMedia: (path: string) => Promise<number> = async () => 0,
  ): Promise<number> {
    const { splits, special } = await this.frame();
    const text = await this.model.renderChat(messages, options);
    const pieces = text.split(this.model.mediaMarker).flatMap((part) => {
      const cut = splits ? piecesOf(part) : [part];
      return cut.map((piece, index) => ({ text: piece, first: index === 0, last: index === cut.length - 1 }));
    });
    await this.learn(pieces);
    let tokens = this.sum(pieces) + special;
    for (const { path } of messages.flatMap(({ media = [] }) => media)) tokens += await countMedia(path);
    return tokens;
  }

  /** Of each text as it stands inside a prompt, behind a line break. */
  async countTexts(texts: readonly string[]): Promise<number[]> {
    const { splits } = await this.frame();
    const cut = texts.map((text) =>
      (splits ? piecesOf(text) : [text]).map((piece) => ({ text: piece, first: false, last: false })),
    );
    await this.learn(cut.flat());
    return cut.map((pieces) => this.sum(pieces));
  }

  private sum(pieces: readonly Piece[]): number {
    return pieces.reduce((sum, piece) => sum + (this.known.get(keyOf(piece)) ?? 0), 0);
  }

  private async learn(pieces: readonly Piece[]): Promise<void> {
    const frame = await this.frame();
    const missing = new Map<string, Piece>();
    for (const piece of pieces) {
      const key = keyOf(piece);
      const tokens = this.known.get(key);
      if (tokens === undefined) missing.set(key, piece);
      else this.remember(key, tokens);
    }
    const entries = [...missing];
    for (let at = 0; at < entries.length; at += piecesOfCall) {
      const some = entries.slice(at, at + piecesOfCall);
      const counts = await this.model.countTexts(some.map(([, piece]) => framed(piece)));
      for (const [index, [key, piece]] of some.entries()) {
        const added = (piece.first ? 0 : frame.before) + (isFramedBehind(piece) ? frame.behind : 0);
        this.remember(key, (counts[index] ?? 0) - added);
      }
    }
    this.forget(pieces.length);
  }

  private remember(key: string, tokens: number): void {
    this.known.delete(key);
    this.known.set(key, tokens);
  }

  /** `needed`: pieces of the count that runs stay, however many they are. */
  private forget(needed: number): void {
    for (const key of this.known.keys()) {
      if (this.known.size <= Math.max(mostRemembered, needed)) return;
      this.known.delete(key);
    }
  }

  private frame(): Promise<Frame> {
    this.measured ??= measureFrame(this.model);
    return this.measured;
  }
}

async function measureFrame(model: Counting): Promise<Frame> {
  const splits = await model.splitsAtLines();
  const [left = 0, both = 0] = await model.countTexts([before, before + letter]);
  const special = model.tokenize(letter, { addSpecial: true }).length - model.tokenize(letter).length;
  return { splits, before: left, behind: both - left, special };
}

function framed(piece: Piece): string {
  return (piece.first ? '' : before) + piece.text + (isFramedBehind(piece) ? letter : '');
}

function isFramedBehind({ text, last }: Piece): boolean {
  return !last && text.endsWith('\n');
}

function keyOf({ text, first, last }: Piece): string {
  return `${first ? '^' : ''}${createHash('sha1').update(text).digest('base64')}${last ? '$' : ''}`;
}

/** The same words give the same cuts, whatever stands before or behind them. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let last = 0;
  for (const { index } of text.matchAll(lineStart)) {
    if (!isCut(text, index)) continue;
    pieces.push(text.slice(last, index));
    last = index;
  }
  pieces.push(text.slice(last));
  return pieces;
}

/** The mark of a section always is one, so that a page alone has the pieces that it has in its document. */
function isCut(text: string, at: number): boolean {
  if (text[at] === '[') return true;
  let sum = 0;
  for (let i = at; i < Math.min(at + decisive, text.length); i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
  return sum % linesOfPiece === 0;
}
