/**
 * Results of tools as a chat keeps them. A text that is too long for the context, and what is no text, become documents: the model is
 * given what of them has room, passages that fit the question best, and told so; all of it is there for the person.
 */

import type { DocumentInfo } from '../../contract/documents';
import { type AttachmentPart, hasNoText, usualPart } from '../../contract/lib/attachments';
import type { Settings } from '../../contract/settings';
import type { ToolResult } from '../../contract/tools/process';
import { givenOf, type KeptResult, type ToolCall, toolLimits } from '../../contract/tools/tools';
import type { DocumentService } from '../documents/documentService';
import type { DocumentCounts } from '../documents/documentTexts';
import type { Retrieval } from '../documents/retrieval';
import type { EngineService } from '../engine/engineService';
import type { Logger } from '../lib/logger';

/** tokens of the context that one result may take: a share */
const shareOfResult = 1 / 4;
/** tokens: with less of a document nothing can be said */
const leastOfDocument = 64;

interface Parts {
  engine: Pick<EngineService, 'contextSize' | 'countTexts' | 'live'>;
  documents: Pick<DocumentService, 'keep'>;
  counts: Pick<DocumentCounts, 'block'>;
  retrieval: Pick<Retrieval, 'choose'>;
  settings: () => Pick<Settings, 'documents'>;
  log: Logger;
}

/** Of a call. */
export type TakenResult = Pick<ToolCall, 'result' | 'cutFrom' | 'kept'>;

export interface ResultFor {
  /** of the document that a long text becomes */
  name: string;
  /** what is looked for in documents that are too long */
  question: string;
  signal: AbortSignal;
}

export class ToolResults {
  constructor(private readonly parts: Parts) {}

  async take({ text, files }: ToolResult, about: ResultFor): Promise<TakenResult> {
    const most = Math.floor(this.parts.engine.contextSize() * shareOfResult);
    const first = await this.text(text, most, about);
    let room = Math.max(0, most - first.tokens);
    const kept = [...(first.kept ?? [])];
    const lines: string[] = [];
    for (const { name, data } of files) {
      const { line, one, tokens } = await this.file(name, Buffer.from(data, 'base64'), room, about);
      room -= tokens;
      if (one) kept.push(one);
      if (line) lines.push(line);
    }
    const result = [first.result, ...lines].filter((part) => part !== '').join('\n');
    const cut = first.cutFrom === undefined ? {} : { cutFrom: first.cutFrom };
    return { result, ...cut, ...(kept.length > 0 && { kept }) };
  }

  /** `tokens`: that it takes of the context. */
  private async text(text: string, most: number, about: ResultFor): Promise<TakenResult & { tokens: number }> {
    const tokens = await this.tokensOf(text);
    if (tokens !== null && (most === 0 || tokens <= most)) return { result: text, tokens };
    const { name, signal } = about;
    try {
      const document = await this.parts.documents.keep(name, text, signal);
      const result = `The result is too long for the context: ${text.length} characters. All of it is kept as the document "${name}", which the user can read. Passages of it that fit the question best stand below, as long as there is room for them.`;
      const room = most - ((await this.tokensOf(result)) ?? 0);
      const part = await this.partOf(document, room, about);
      const kept = { documentId: document.id, name, part };
      if (part === null)
        return this.cut(text, most, ` All of it is kept as the document "${name}", which the user can read.`, kept);
      return { result, cutFrom: text.length, kept: [kept], tokens: most - room + (await this.tokensOfPart(kept)) };
    } catch (error) {
      if (signal.aborted) throw error;
      // its beginning is better than nothing
      this.parts.log.warn(`A result of a tool could not become a document: ${String(error)}`);
      return this.cut(text, most, '');
    }
  }

  /** Its beginning, where there is no room for passages, or no document. */
  private async cut(text: string, most: number, where: string, kept?: KeptResult) {
    const beginning = await this.beginning(text, most);
    const result = `${beginning}\n[The result goes on: ${text.length} characters in all.${where}]`;
    return { result, cutFrom: text.length, ...(kept && { kept: [kept] }), tokens: most };
  }

  /** `line`: what the model is told of it, where it is not given it. */
  private async file(name: string, content: Buffer, room: number, about: ResultFor) {
    const { signal } = about;
    try {
      const document = await this.parts.documents.keep(name, content, signal);
      const part = await this.partOf(document, room, about);
      const one: KeptResult = { documentId: document.id, name, part };
      if (part) return { one, line: '', tokens: await this.tokensOfPart(one) };
      const line = `${name} is kept for the user, who can ${hasNoText(document.kind) ? 'open' : 'read'} it. You are not given its content.`;
      return { one, line, tokens: 0 };
    } catch (error) {
      if (signal.aborted) throw error;
      this.parts.log.warn(`A file of a tool could not be kept: ${String(error)}`);
      return { one: null, line: `${name} could not be kept, and is lost.`, tokens: 0 };
    }
  }

  /** What of it the model is given in so many tokens; null: nothing. */
  private async partOf(
    { id: documentId, name, kind, characters }: DocumentInfo,
    room: number,
    { question }: ResultFor,
  ): Promise<AttachmentPart | null> {
    const { engine, counts, retrieval, settings } = this.parts;
    const senses = engine.live.senses();
    const usable = kind === 'image' ? senses?.sees : kind === 'sound' ? senses?.hears : kind !== 'file';
    if (!usable || room < leastOfDocument) return null;
    const all = { documentId, name, part: usualPart({ kind }) };
    // an image that is damaged cannot be counted
    const tokens = await counts.block(all).catch((error: unknown) => {
      if (hasNoText(kind)) return Number.POSITIVE_INFINITY;
      throw error;
    });
    if (tokens <= room && (hasNoText(kind) || characters > 0)) return all.part;
    if (hasNoText(kind) || characters === 0) return null;
    const passages = { documentId, name, part: { kind: 'passages' as const, passages: [] } };
    const { part } = await retrieval.choose(passages, question, Math.min(room, settings().documents.retrievalTokens));
    return part.kind === 'passages' && part.passages.length > 0 ? part : null;
  }

  private async tokensOfPart(kept: KeptResult): Promise<number> {
    const [given] = givenOf({ kept: [kept] });
    return given ? this.parts.counts.block(given) : 0;
  }

  /** null: the engine does not say. */
  private async tokensOf(text: string): Promise<number | null> {
    const [tokens = null] = await this.parts.engine.countTexts([text]).catch(() => []);
    return tokens;
  }

  private async beginning(text: string, most: number): Promise<string> {
    for (let cut = text.slice(0, toolLimits.result).toWellFormed(); ; ) {
      const tokens = (await this.tokensOf(cut)) ?? 0;
      if (tokens <= most || most === 0) return cut;
      cut = cut.slice(0, Math.floor((cut.length * most) / tokens) - 1).toWellFormed();
    }
  }
}
