/** Of a card: its icon, an image or sound that the model reads itself, and the pages of a scan, as text or as images. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  AudioLines,
  BookOpen,
  FileCode,
  FileSpreadsheet,
  FileText,
  FileType,
  Image,
  Mail,
  Presentation,
  ScanText,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import type { DocumentInfo, DocumentKind } from '../../../electron/contract/documents';
import { attachmentLimits } from '../../../electron/contract/lib/attachments';
import type { DraftDocument } from '../../state/appState';
import { selectSees, useImage } from '../../state/lib/media';
import { selectSections } from '../../state/slices/documents';
import { useActions, useApp } from '../../state/useApp';
import { ZoomImage } from '../../ui/Dialog';
import { formatCount } from '../../ui/format';
import { MenuItem } from '../../ui/Menu';
import { Segmented } from '../../ui/Segmented';

/** `kind` null: not known yet. */
export function KindIcon({ kind, className }: { kind: DocumentKind | null; className: string }) {
  if (kind === 'code' || kind === 'html') return <FileCode className={className} aria-hidden="true" />;
  if (kind === 'pptx' || kind === 'odp') return <Presentation className={className} aria-hidden="true" />;
  if (kind === 'eml') return <Mail className={className} aria-hidden="true" />;
  if (kind === 'picture') return <Image className={className} aria-hidden="true" />;
  if (kind === 'epub') return <BookOpen className={className} aria-hidden="true" />;
  if (kind === 'csv' || kind === 'xlsx' || kind === 'ods')
    return <FileSpreadsheet className={className} aria-hidden="true" />;
  if (kind === 'markdown' || kind === 'docx' || kind === 'odt' || kind === 'rtf')
    return <FileType className={className} aria-hidden="true" />;
  return <FileText className={className} aria-hidden="true" />;
}

/** In place of that icon. */
export function MediaSign({ info }: { info: DocumentInfo }) {
  if (info.kind === 'sound') return <AudioLines className="mt-0.5 size-4 shrink-0 text-accent" aria-hidden="true" />;
  return <CardImage info={info} />;
}

function CardImage({ info }: { info: DocumentInfo }) {
  return <ZoomImage name={info.name} src={useImage(info.id)} className="size-11" testId="card-image" />;
}

export function ReadAsText({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  return (
    <MenuItem icon={<ScanText />} onSelect={() => void documents.readAsText(document.key)}>
      <Trans>Read as text (OCR)</Trans>
    </MenuItem>
  );
}

interface ScanChoiceProps {
  document: DraftDocument;
  info: DocumentInfo;
  /** its tokens are not known yet: pages are drawn to be counted */
  counting: boolean;
}

/** Of a document with scanned pages, where the model in use sees: what goes to it. */
export function ScanChoice({ document, info, counting }: ScanChoiceProps) {
  const { documents } = useActions();
  const sees = useApp(selectSees);
  const sections = useApp(selectSections(info.id));
  const drawn = sees && info.original && info.pages !== null;
  useEffect(() => {
    if (drawn) void documents.load(info.id);
  }, [documents, info.id, drawn]);
  const scanned = sections?.some(({ ocr }) => ocr) ?? false;
  const { key, part } = document;
  const pages = imagePages(document, info);
  const tokens = useTokensOfPage(info.id, drawn && scanned);
  const asImages = part.kind === 'image' && info.pages !== null;
  if (!(drawn && scanned) && !asImages) return null;

  return (
    <div className="mt-1.5 grid gap-1" data-testid="scan-choice">
      <Segmented
        name={`scan-${key}`}
        label={t`What the model is given of ${info.name}`}
        value={asImages ? 'image' : 'text'}
        options={[
          { value: 'text', label: t`Text (OCR)` },
          { value: 'image', label: t`Images` },
        ]}
        onValue={(way) => documents.setPart(key, way === 'image' ? { kind: 'image', pages } : textPart(document))}
      />
      {sees && asImages && counting && (
        <p role="status" className="appear-late text-ink-3">
          <Trans>Drawing and counting its pages</Trans>
        </p>
      )}
      {!asImages && tokens !== null && (
        <p className="text-ink-3 tabular-nums">
          {plural(pages.length, {
            one: `The image of its page would take about ${formatCount(tokens * pages.length)} tokens.`,
            other: `Images of # pages would take about ${formatCount(tokens * pages.length)} tokens.`,
          })}
        </p>
      )}
      {pages.length < pagesOf(document, info) && (
        <p className="text-ink-3">
          <Trans>
            At most {attachmentLimits.imagePages} pages go as images: choose others with “Choose pages” in the menu.
          </Trans>
        </p>
      )}
    </div>
  );
}

/** How many pages are chosen. */
function pagesOf({ part }: DraftDocument, { pages }: DocumentInfo): number {
  if (part.kind === 'sections') return part.sections.length;
  return part.kind === 'image' ? (part.pages?.length ?? 1) : (pages ?? 0);
}

/** The first of the chosen pages, counted from 1. */
function imagePages({ part }: DraftDocument, { pages }: DocumentInfo): number[] {
  if (part.kind === 'image') return part.pages ?? [1];
  const chosen =
    part.kind === 'sections'
      ? part.sections.map((section) => section + 1)
      : Array.from({ length: pages ?? 0 }, (_, index) => index + 1);
  return chosen.slice(0, attachmentLimits.imagePages);
}

/** The same pages. */
function textPart({ part, info }: DraftDocument): DraftDocument['part'] {
  const pages = part.kind === 'image' ? (part.pages ?? []) : [];
  if (pages.length === info?.pages || pages.length === 0) return { kind: 'whole' };
  return { kind: 'sections', sections: pages.map((page) => page - 1) };
}

/** Of its first page as an image; null: not counted. */
function useTokensOfPage(documentId: string, wanted: boolean): number | null {
  const { documents } = useActions();
  const [tokens, setTokens] = useState<number | null>(null);
  useEffect(() => {
    if (!wanted) return;
    let dropped = false;
    void documents.countPage(documentId).then((counted) => dropped || setTokens(counted));
    return () => {
      dropped = true;
    };
  }, [documents, documentId, wanted]);
  return tokens;
}
