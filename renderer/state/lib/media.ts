/** Images and sound that the model reads itself: as they are shown, what of them the model in use cannot read, and what is changed before. */
import { t } from '@lingui/core/macro';
import { useEffect, useMemo, useState } from 'react';
import type { Chat } from '../../../electron/contract/chats';
import {
  type Attachment,
  beyondSenses,
  isMedia,
  type Senses,
  sensesOf,
} from '../../../electron/contract/lib/attachments';
import { givenIn } from '../../../electron/contract/tools/tools';
import type { AppState, DraftDocument } from '../appState';
import { selectLoadedContext, selectLoadedModel } from '../slices/engine';
import { useActions, useApp } from '../useApp';
import { attachmentsOf } from './attach';
import { pathTo } from './messageTree';
import { selectChat, selectDraftOfOpenChat } from './openChat';

export const selectSees = (state: AppState) => selectLoadedContext(state)?.projector.vision ?? false;

/** Why the model in use cannot answer the open chat with its draft, for the line below the field; null: it can, or none is loaded. */
export function useBeyondSenses(): string | null {
  const context = useApp(selectLoadedContext);
  const name = useApp(selectLoadedModel)?.name ?? '';
  const chat = useApp(selectChat);
  const { documents } = useApp(selectDraftOfOpenChat);
  return useMemo(() => context && beyondOf(name, sensesOf(context), chat, documents), [name, context, chat, documents]);
}

export function beyondOf(
  modelName: string,
  senses: Senses,
  chat: Pick<Chat, 'messages' | 'leafId'> | null,
  documents: readonly DraftDocument[],
): string | null {
  const name = modelName || t`The model in use`;
  const own = beyondSenses(attachmentsOf(documents), senses);
  if (own) return beyondInDraft(name, own);
  const branch = chat ? pathTo(chat.messages, chat.leafId) : [];
  const sent = branch.flatMap(({ attachments, summary, rounds }) =>
    summary ? [] : [...attachments, ...givenIn(rounds)],
  );
  const earlier = beyondSenses(sent, senses);
  return earlier ? beyondInChat(name, earlier) : null;
}

function beyondInDraft(model: string, { name, part }: Attachment): string {
  if (part.kind === 'sound') return t`${model} does not hear ${name}. Remove it, or choose a model that hears`;
  return t`${model} does not see ${name}. Have it read as text, remove it, or choose a model that sees`;
}

function beyondInChat(model: string, { name, part }: Attachment): string {
  if (part.kind === 'sound')
    return t`${model} does not hear ${name}, which this chat has. Choose a model that does, or start a new chat`;
  return t`${model} does not see ${name}, which this chat has. Choose a model that does, or start a new chat`;
}

/** Of a document that is attached: the words for it and others. */
export function questionHint(documents: readonly { part: Attachment['part'] }[]): 'text' | 'image' | 'sound' {
  const kinds = new Set(documents.map(({ part }) => (isMedia(part) ? part.kind : 'text')));
  return kinds.size === 1 ? ([...kinds][0] ?? 'text') : 'text';
}

/** An image as `src` of an element; null: not yet, or it is not stored any more. */
export function useImage(documentId: string): string | null {
  const { documents } = useActions();
  const [src, setSrc] = useState<string | null>(null);
  useEffect(() => {
    let dropped = false;
    void documents.image(documentId).then((found) => dropped || setSrc(found));
    return () => {
      dropped = true;
    };
  }, [documents, documentId]);
  return src;
}
