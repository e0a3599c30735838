import { longPaste } from '../../state/lib/openChat';

type Clipboard = Pick<DataTransfer, 'getData' | 'files'>;

/**
 * What of a paste becomes a document; null: it is for the text field. Where there are words they win: a word processor puts
 * a picture of them beside.
 */
export function pasteOf(clipboard: Clipboard): { text: string } | { files: File[] } | null {
  const text = clipboard.getData('text/plain');
  if (text.length > longPaste) return { text };
  return text === '' && clipboard.files.length > 0 ? { files: [...clipboard.files] } : null;
}
