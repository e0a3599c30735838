import { FileText, X } from 'lucide-react';
import { formatCount } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';

export function PastedCard({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <li
      data-testid="pasted-text"
      className="rise flex max-w-72 items-center gap-2.5 rounded-lg border border-line bg-sunken py-1.5 pr-1 pl-2.5 text-xs"
    >
      <FileText className="size-4 shrink-0 text-accent" aria-hidden="true" />
      <span className="min-w-0">
        <span className="block truncate text-ink">{text.slice(0, 120).replace(/\s+/g, ' ').trim()}</span>
        <span className="text-ink-3 tabular-nums">{formatCount(text.length)} characters</span>
      </span>
      <IconButton label="Remove the text" icon={<X />} size="small" onClick={onRemove} />
    </li>
  );
}
