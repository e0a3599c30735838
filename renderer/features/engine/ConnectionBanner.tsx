import { useEffect, useState } from 'react';
import { selectConnection } from '../../state/engine/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';

/** Headless mode only: the page and the server can lose each other. */
export function ConnectionBanner() {
  const { phase, retryAt } = useApp(selectConnection);
  const { engine } = useActions();
  if (phase === 'open' || phase === 'connecting') return null;
  return (
    <Banner
      tone="warn"
      title={phase === 'refused' ? 'Concertina does not answer this page.' : 'The connection to Concertina was lost.'}
      testId="connection-banner"
      className="mx-4 my-2"
      actions={
        <Button size="small" onClick={engine.reconnect}>
          Try now
        </Button>
      }
    >
      {phase === 'refused'
        ? 'Is it still running? Open the whole address that “npm run serve” printed: the key at its end lets a new tab in.'
        : 'Answers go on being written and will be here when it is back.'}{' '}
      <Countdown until={retryAt} />
    </Banner>
  );
}

function Countdown({ until }: { until: number | null }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  if (until === null) return null;
  return (
    <span aria-hidden="true" className="tabular-nums">
      Next try in {Math.max(0, Math.ceil((until - now) / 1000))} s.
    </span>
  );
}
