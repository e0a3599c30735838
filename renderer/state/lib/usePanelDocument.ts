/** All that the panel knows of its document. */
import { useEffect, useMemo } from 'react';
import { useShallow } from 'zustand/shallow';
import type { DocumentInfo, Section } from '../../../electron/contract/documents';
import type { AttachmentPart } from '../../../electron/contract/lib/attachments';
import type { AppState, DraftDocument, TokenCount } from '../appState';
import { selectInDraft, selectInfo, selectSections, selectTokens } from '../slices/documents';
import { selectCanAnswer, selectLoadedModelId } from '../slices/engine';
import { useActions, useApp } from '../useApp';
import { pathTo } from './messageTree';
import { partsSent, sectionsIn } from './partText';

export interface PanelDocument {
  info: DocumentInfo;
  sections: readonly Section[];
  /** by the loaded model; null: not counted yet */
  tokens: TokenCount | null;
  /** its card beside the question */
  inDraft: DraftDocument | null;
  /** indices of sections that the shown branch holds */
  sent: ReadonlySet<number>;
  /** ... and that the question would add */
  chosen: ReadonlySet<number>;
}

/** null: not known yet */
export function usePanelDocument(documentId: string): PanelDocument | null {
  const info = useApp(selectInfo(documentId));
  const sections = useApp(selectSections(documentId));
  const tokens = useApp(selectTokens(documentId));
  const inDraft = useApp(selectInDraft(documentId));
  const parts = useApp(useShallow(selectSent(documentId)));
  const sent = useMemo(() => sectionsIn(parts, sections ?? []), [parts, sections]);
  const part = inDraft?.part;
  const chosen = useMemo(() => sectionsIn(part ? [part] : [], sections ?? []), [part, sections]);
  useCount(documentId);
  return info && sections && { info, sections, tokens, inDraft, sent, chosen };
}

/** The model's own count, once for each model. */
function useCount(documentId: string): void {
  const { documents } = useActions();
  const able = useApp(selectCanAnswer);
  const modelId = useApp(selectLoadedModelId);
  useEffect(() => {
    if (able) void documents.count(documentId, modelId);
  }, [able, modelId, documentId, documents]);
}

function selectSent(documentId: string) {
  return ({ conversation: { chat } }: AppState): AttachmentPart[] =>
    chat ? partsSent(pathTo(chat.messages, chat.leafId), documentId) : [];
}
