import { FileCode, FileSpreadsheet, FileText, FileType } from 'lucide-react';
import type { DocumentKind } from '../../../electron/contract/documents';

/** `kind` null: not known yet. */
export function KindIcon({ kind, className }: { kind: DocumentKind | null; className: string }) {
  if (kind === 'code' || kind === 'html') return <FileCode className={className} aria-hidden="true" />;
  if (kind === 'csv') return <FileSpreadsheet className={className} aria-hidden="true" />;
  if (kind === 'markdown' || kind === 'docx') return <FileType className={className} aria-hidden="true" />;
  return <FileText className={className} aria-hidden="true" />;
}
