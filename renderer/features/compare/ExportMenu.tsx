import { Download } from 'lucide-react';
import type { CompareFormat, CompareRun } from '../../../electron/contract/compare';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Menu, MenuItem } from '../../ui/Menu';
import { fileName, saveFile } from '../../ui/saveFile';
import { pngOf } from './pngOf';

const formats: readonly { format: CompareFormat; label: string; type: string }[] = [
  { format: 'markdown', label: 'Markdown table', type: 'text/markdown' },
  { format: 'csv', label: 'CSV', type: 'text/csv' },
  { format: 'json', label: 'JSON, everything', type: 'application/json' },
];

interface ExportMenuProps {
  run: CompareRun;
  /** where the plots are */
  plots: () => HTMLElement | null;
  hasPlots: boolean;
}

export function ExportMenu({ run, plots, hasPlots }: ExportMenuProps) {
  const { compare, ui } = useActions();

  async function save(format: CompareFormat, type: string): Promise<void> {
    const file = await compare.exportRun(run.id, format);
    if (file) saveFile(file.fileName, [file.text], type);
  }

  async function savePng(): Promise<void> {
    const root = plots();
    const picture = root && (await pngOf(root, run));
    if (picture) saveFile(fileName(run.name, 'png'), [picture], 'image/png');
    else ui.report(new Error('The picture could not be made.'));
  }

  return (
    <Menu
      trigger={
        <Button size="small" data-testid="compare-export">
          <Download className="size-3.5" aria-hidden="true" />
          Export
        </Button>
      }
    >
      {formats.map(({ format, label, type }) => (
        <MenuItem key={format} onSelect={() => void save(format, type)}>
          {label}
        </MenuItem>
      ))}
      {hasPlots && <MenuItem onSelect={() => void savePng()}>Picture of the plots (PNG)</MenuItem>}
    </Menu>
  );
}
