import { toast } from 'sonner';
import type { CompareRun } from '../../../electron/contract/compare';
import { selectChatTitle } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Menu, MenuItem } from '../../ui/Menu';

/** Takes over the types and the length of a column, for the model of the run alone. The model is busy until the run has ended. */
export function UseThis({ run, index }: { run: CompareRun; index: number }) {
  const title = useApp(selectChatTitle);
  const { compare } = useActions();
  const column = run.columns[index];
  if (!column || run.state === 'running' || column.state === 'failed') return null;

  async function later(): Promise<void> {
    if (await compare.use(run, index, false)) toast.success('Saved: this model is loaded with it from now on.');
  }

  return (
    <span className="ml-auto">
      <Menu
        trigger={
          <Button size="small" data-testid="compare-use">
            Use this
          </Button>
        }
      >
        <MenuItem onSelect={() => void compare.use(run, index, true)}>
          {title === null ? 'Now: load the model with it' : 'Now: load it for the open chat'}
        </MenuItem>
        <MenuItem onSelect={() => void later()}>As the default of this model</MenuItem>
      </Menu>
    </span>
  );
}
