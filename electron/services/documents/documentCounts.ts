/** Tokens of documents, section by section, counted once for each model. */
import type { Attachment } from '../../contract/attachments';
import { documentBlock } from './documentBlock';
import type { DocumentTexts } from './documentTexts';

export interface CountingModel {
  /** of each text, as it stands inside a prompt */
  countTexts(texts: string[]): Promise<number[]>;
  /** another number: another model may be loaded */
  loads(): number;
}

export class DocumentCounts {
  private readonly known = new Map<string, Promise<number[]>>();
  private loads = -1;

  constructor(
    private readonly texts: DocumentTexts,
    private readonly model: CountingModel,
  ) {}

  /** Of the block that stands in a prompt. */
  async block(attachment: Attachment): Promise<number> {
    const { documentId, name, part } = attachment;
    if (part.kind === 'passages') return this.count(await this.texts.block(attachment));
    const sections = await this.sections(documentId);
    const chosen = part.kind === 'whole' ? sections : part.sections.map((index) => sections[index] ?? 0);
    return chosen.reduce((sum, tokens) => sum + tokens, await this.count(documentBlock(name, [], [], [])));
  }

  /** Of each section with its mark; 0: a section without words, which is left out. */
  sections(documentId: string): Promise<number[]> {
    const loads = this.model.loads();
    if (loads !== this.loads) this.known.clear();
    this.loads = loads;
    const known = this.known.get(documentId) ?? this.countSections(documentId);
    this.known.set(documentId, known);
    known.catch(() => this.known.delete(documentId));
    return known;
  }

  private async countSections(documentId: string): Promise<number[]> {
    const tokens: number[] = [];
    for await (const texts of this.texts.sections(documentId)) tokens.push(...(await this.model.countTexts(texts)));
    return tokens;
  }

  private async count(text: string): Promise<number> {
    const [tokens = 0] = await this.model.countTexts([text]);
    return tokens;
  }
}
