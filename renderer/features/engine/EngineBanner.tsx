/** What the engine is about when it is not simply ready: what happened, and what to do. */

import { useEffect, useState } from 'react';
import { useShallow } from 'zustand/shallow';
import { changeOf } from '../../../electron/contract/fit';
import type { AppState } from '../../state/appState';
import { useOffers } from '../../state/lib/useOffers';
import {
  selectConnection,
  selectLoadedModelId,
  selectRecovered,
  selectRefusal,
  selectStatus,
} from '../../state/slices/engine';
import { selectCurrentModel, selectEmbeddedModel } from '../../state/slices/models';
import { selectApplying, selectSavedContext } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Logo } from '../../ui/Bellows';
import { Button } from '../../ui/Button';
import { offerText } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';
import { Progress } from '../../ui/Progress';
import { bannerText } from './bannerText';

const lateMs = 400;
const stepNames = { weights: 'Loading the model', calibration: 'Measuring the model', cache: 'Saving the session' };

export function EngineBanner() {
  const status = useApp(selectStatus);
  const applying = useApp(selectApplying);
  const recovered = useApp(selectRecovered);
  const refusal = useApp(selectRefusal);
  const model = useApp(selectCurrentModel);
  const embedded = useApp(selectEmbeddedModel);
  const { engine, models, ui } = useActions();
  const text = bannerText(status, {
    applying,
    recovered,
    refusal,
    modelName: model?.info?.name ?? model?.fileName ?? null,
  });
  const working = text?.tone === 'info' && status?.state !== 'empty';
  // A small model is loaded before a banner could be read; it would only make the window jump.
  const workingLong = useDebounced(working, lateMs) && working;
  if (!text || !status || (working && !workingLong)) return null;

  return (
    <Banner
      tone={text.tone}
      title={text.title}
      testId="engine-banner"
      className="mx-4 my-2"
      icon={working ? <Logo className="size-5!" working /> : undefined}
      onClose={text.closable ? (refusal ? engine.closeRefusal : engine.closeRecovered) : undefined}
      actions={
        <>
          {status.state === 'loading' && (
            <div className="flex w-56 items-center gap-2">
              <Progress label={stepNames[status.loadStep ?? 'weights']} share={status.loadProgress} />
              <Button size="small" tone="quiet" onClick={() => void engine.cancelLoad()}>
                {status.loadStep === 'calibration' ? 'Skip' : 'Cancel'}
              </Button>
            </div>
          )}
          {text.actions.includes('memory') && <MemoryOffers />}
          {text.actions.includes('settings') && (
            <Button size="small" onClick={() => ui.setSettings(true)}>
              Open settings
            </Button>
          )}
          {text.actions.includes('models') && (
            <Button size="small" onClick={() => ui.setPicker(true)}>
              Choose a model
            </Button>
          )}
          {text.actions.includes('embedded') && embedded && status.modelId !== embedded.id && (
            <Button size="small" onClick={() => void models.select(embedded.id)}>
              Use the built-in model
            </Button>
          )}
          {text.actions.includes('restart') && (
            <Button size="small" onClick={() => void engine.restart()}>
              Restart the engine
            </Button>
          )}
          {text.actions.includes('again') && (
            <Button size="small" onClick={() => void (refusal ? models.select(refusal.modelId) : engine.reload())}>
              Try again
            </Button>
          )}
        </>
      }
    >
      {text.body}
    </Banner>
  );
}

/** After a load that did not fit: settings that do, and a way to try all the same. */
function MemoryOffers() {
  const context = useApp(selectSavedContext);
  const loadedId = useApp(selectLoadedModelId);
  const refusedId = useApp(selectRefusal)?.modelId ?? null;
  const offers = useOffers(context, refusedId ?? loadedId, 'banner');
  const { settings, engine, models } = useActions();

  return (
    <>
      {offers?.map((offer, i) => (
        <Button
          key={offerText(offer)}
          size="small"
          tone={i === 0 ? 'primary' : 'outline'}
          data-testid="banner-offer"
          onClick={() => void settings.takeOffer(changeOf(offer), refusedId)}
        >
          {offerText(offer)}
        </Button>
      ))}
      <Button
        size="small"
        onClick={() => void (refusedId === null ? engine.reload(true) : models.select(refusedId, true))}
        data-testid="banner-force"
      >
        Load anyway
      </Button>
    </>
  );
}

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

const noNotices: string[] = [];

function selectNotices(state: AppState): string[] {
  return state.engine.info?.notices.filter((notice) => !state.engine.closedNotices.includes(notice)) ?? noNotices;
}

/** What a person should know about this start. */
export function Notices() {
  const notices = useApp(useShallow(selectNotices));
  const { engine } = useActions();
  return notices.map((notice) => (
    <Banner
      key={notice}
      tone="info"
      title={notice}
      testId="notice"
      className="mx-4 my-2"
      onClose={() => engine.closeNotice(notice)}
    />
  ));
}
