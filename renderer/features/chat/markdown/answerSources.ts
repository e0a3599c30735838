/** The documents that an answer can cite: those of its question, of the tools that it called, and of all turns before it. */
import { createContext, useEffect, useMemo } from 'react';
import type { Message } from '../../../../electron/contract/chats';
import { givenIn } from '../../../../electron/contract/tools/tools';
import { useActions } from '../../../state/useApp';
import type { CitedDocument } from './citations';

interface Sources {
  messageId: string;
  documents: readonly CitedDocument[];
}

export const AnswerSources = createContext<Sources>({ messageId: '', documents: [] });

/**
 * For each message of a branch its documents, as JSON: a string is the same when nothing has changed, so that no row
 * renders again for it. Empty: none.
 */
export function documentsAlong(branch: readonly Pick<Message, 'attachments' | 'rounds'>[]): string[] {
  const known = new Map<string, CitedDocument>();
  let written = '';
  return branch.map(({ attachments, rounds }) => {
    const here = [...attachments, ...givenIn(rounds)];
    for (const { documentId, name } of here) known.set(documentId, { documentId, name });
    if (here.length > 0) written = JSON.stringify([...known.values()]);
    return written;
  });
}

/** Sees to it that the pages of the documents of a finished answer are known, once it is on the screen. */
export function useAnswerSources(message: Message, documents: string): Sources {
  const { citations } = useActions();
  const sources = useMemo(
    () => ({ messageId: message.id, documents: documents === '' ? [] : (JSON.parse(documents) as CitedDocument[]) }),
    [message.id, documents],
  );
  useEffect(() => {
    if (sources.documents.length > 0) void citations.learn(sources.documents.map(({ documentId }) => documentId));
  }, [citations, sources]);
  return sources;
}
