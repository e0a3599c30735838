import { selectEngineState } from '../../state/engine/selectors';
import { selectApplying, selectDraft, selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { changesText } from './changesText';

/** What has been changed and costs a reload of the model. Shown only then. */
export function ApplyBar() {
  const draft = useApp(selectDraft);
  const saved = useApp(selectSavedContext);
  const applying = useApp(selectApplying);
  const state = useApp(selectEngineState);
  const { settings } = useActions();
  const changes = saved ? changesText(saved, draft) : [];
  if (changes.length === 0) return null;
  const writing = state === 'generating';

  return (
    <div className="rise shrink-0 border-t border-line bg-raised px-5 py-3.5" data-testid="settings-changes">
      <ul className="text-xs text-ink-2 tabular-nums">
        {changes.map((change) => (
          <li key={change}>{change}</li>
        ))}
      </ul>
      <p className="mt-1 text-xs text-ink-3">
        {writing
          ? 'An answer is being written. Stop it or wait for its end.'
          : 'Reloads the model. The chat stays; it is read again with the next question.'}
      </p>
      <div className="mt-2.5 flex justify-end gap-2">
        <Button
          size="small"
          tone="quiet"
          disabled={applying}
          onClick={settings.discardContext}
          data-testid="settings-discard"
        >
          Discard
        </Button>
        <Button
          size="small"
          tone="primary"
          disabled={applying || writing}
          onClick={() => void settings.applyContext()}
          data-testid="settings-apply"
        >
          {applying ? 'Reloading…' : 'Apply and reload'}
        </Button>
      </div>
    </div>
  );
}
