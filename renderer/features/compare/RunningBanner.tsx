import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { selectCompareOpen, selectComparing } from '../../state/slices/compare';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';

/** Over a chat while a comparison runs: it says why an answer waits. */
export function RunningBanner() {
  const comparing = useApp(selectComparing);
  const open = useApp(selectCompareOpen);
  const { compare } = useActions();
  if (comparing === null || open) return null;
  return (
    <Banner
      tone="info"
      title={t`A comparison is running.`}
      className="mx-4 mb-2"
      testId="compare-running"
      actions={
        <>
          <Button size="small" onClick={() => void compare.openRun(comparing)}>
            <Trans>Show it</Trans>
          </Button>
          <Button size="small" onClick={() => void compare.cancel(comparing)}>
            <Trans>Cancel it</Trans>
          </Button>
        </>
      }
    >
      <Trans>Answers wait until it has ended.</Trans>
    </Banner>
  );
}
