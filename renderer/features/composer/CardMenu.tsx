import { BookOpen, Ellipsis, ListChecks, ScanSearch, TextCursorInput, WholeWord } from 'lucide-react';
import type { DraftDocument } from '../../state/documents/state';
import { sectionsName } from '../../state/lib/partText';
import { useActions } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { Menu, MenuItem } from '../../ui/Menu';

/** What can be done with a document that has been read. */
export function CardMenu({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  const { key, info, part, origin } = document;
  if (!info) return null;

  return (
    <Menu
      trigger={
        <IconButton
          label={`More about ${info.name}`}
          icon={<Ellipsis />}
          size="small"
          className="-my-1 -mr-1.5"
          data-testid="card-menu"
        />
      }
    >
      <MenuItem icon={<BookOpen />} onSelect={() => documents.openAt(info.id)}>
        Show the text
      </MenuItem>
      {info.sections > 1 && (
        <MenuItem icon={<ListChecks />} onSelect={() => documents.openParts(info.id)}>
          Choose {sectionsName(info)}s
        </MenuItem>
      )}
      {part.kind !== 'passages' && (
        <MenuItem icon={<ScanSearch />} onSelect={() => documents.setPart(key, { kind: 'passages', passages: [] })}>
          Search it for each question
        </MenuItem>
      )}
      {part.kind !== 'whole' && (
        <MenuItem icon={<WholeWord />} onSelect={() => documents.setPart(key, { kind: 'whole' })}>
          The whole document
        </MenuItem>
      )}
      {origin.kind === 'text' && (
        <MenuItem icon={<TextCursorInput />} onSelect={() => documents.pasteAsText(key)}>
          Paste as text
        </MenuItem>
      )}
    </Menu>
  );
}
