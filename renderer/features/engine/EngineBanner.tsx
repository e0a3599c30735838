/** What the engine is about when it is not simply ready: what happened, and what to do. */

import { selectRecovered, selectRefusal, selectStatus } from '../../state/engine/selectors';
import { selectCurrentModel, selectEmbeddedModel } from '../../state/models/selectors';
import { selectApplying } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { Logo } from '../../ui/Logo';
import { Progress } from '../../ui/Progress';
import { useDebounced } from '../../ui/useDebounced';
import { bannerText } from './bannerText';
import { MemoryOffers } from './MemoryOffers';

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
