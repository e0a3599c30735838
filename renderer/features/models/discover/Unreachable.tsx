/** Why the hub gave no answer, in its own words, and what can be done. */
import type { ErrorPayload } from '../../../../electron/contract/errors';
import { selectHubAccount } from '../../../state/hub/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';

const titles: Partial<Record<ErrorPayload['code'], string>> = {
  'network-failed': 'The hub cannot be reached',
  'rate-limited': 'The hub asks for a pause',
  'access-denied': 'The hub refuses access',
};

export function Unreachable({ problem }: { problem: ErrorPayload }) {
  const account = useApp(selectHubAccount);
  const { hub, ui } = useActions();

  function openSettings(): void {
    ui.showModels(null);
    ui.setSettings(true);
  }

  return (
    <Banner
      tone="warn"
      title={titles[problem.code] ?? 'The hub gave no answer'}
      testId="hub-problem"
      className="mb-3"
      actions={
        <>
          <Button size="small" onClick={() => void hub.search()} data-testid="hub-retry">
            Try again
          </Button>
          {problem.code === 'access-denied' && (
            <Button size="small" onClick={openSettings}>
              Open the settings
            </Button>
          )}
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">
        {problem.message} {problem.hint}
      </p>
      {account && problem.code === 'network-failed' && (
        <p className="mt-1 text-xs text-ink-3">Models on this computer work without it. Asked: {account.endpoint}</p>
      )}
    </Banner>
  );
}
