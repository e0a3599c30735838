/** The frame of a file of exported chats, apart from the schemas: the window puts such files together and takes them apart. */

const format = 'concertina-chats';
const version = 1;

export function chatFileStart(app: string, exportedAt: Date): string {
  const head = JSON.stringify({ format, version, exportedAt: exportedAt.toISOString(), app });
  return `${head.slice(0, -1)},"chats":[\n`;
}

export const chatFileSeparator = ',\n';
/** between the chats and the documents, where there are any */
export const chatFileDocuments = '\n],"documents":[\n';
export const chatFileEnd = '\n]}\n';

/** The chats of such a file and the documents that came with them, unchecked; or why it is none. */
export function chatsOfFile(text: string): { chats: unknown[]; documents: unknown[] } | { problem: string } {
  const file = parsed(text);
  if (file?.format !== format || !Array.isArray(file.chats)) {
    return { problem: 'This file holds no chats of Concertina. Choose a JSON file that was exported here.' };
  }
  if (file.version !== version) {
    return { problem: 'This file is of a newer version of Concertina. Update the app and import it again.' };
  }
  return { chats: file.chats, documents: Array.isArray(file.documents) ? file.documents : [] };
}

function parsed(text: string): { format?: unknown; version?: unknown; chats?: unknown; documents?: unknown } | null {
  try {
    return JSON.parse(text) as ReturnType<typeof parsed>;
  } catch {
    return null;
  }
}
