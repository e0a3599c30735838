import { changeOf } from '../../../electron/contract/offers';
import { selectLoadedModelId, selectRefusal } from '../../state/engine/selectors';
import { useOffers } from '../../state/lib/useOffers';
import { selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { offerText } from '../../ui/fitText';

/** After a load that did not fit: settings that do, and a way to try all the same. */
export function MemoryOffers() {
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
