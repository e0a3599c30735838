import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { fallbacksOf, simdName } from '../../../electron/contract/fallbacks';
import { selectCapabilities, selectLoadedContext } from '../../state/engine/selectors';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Popover } from '../../ui/Popover';
import { EngineDetails } from './EngineDetails';
import { offloadText } from './placeText';
import { StripButton } from './StripButton';

/** Effective cache types and backend; amber when anything is not as it was asked for. */
export function EngineMeter() {
  const context = useApp(selectLoadedContext);
  const capabilities = useApp(selectCapabilities);
  const [open, setOpen] = useState(false);
  const { ui } = useActions();
  if (!capabilities) return null;
  const fallbacks = fallbacksOf(context, capabilities);
  const types = context ? typesLabel(context.typeK.effective, context.typeV.effective) : '';

  return (
    <Popover
      label="Engine"
      align="end"
      className="w-96 max-w-[calc(100vw-1.25rem)] p-4"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <StripButton
          className={cx(fallbacks.length > 0 && 'bg-warn-soft text-warn [&_b]:text-warn!')}
          data-testid="meter-engine"
          data-fallbacks={fallbacks.length}
          aria-label={`Cache types ${types}, ${capabilities.backend}${fallbacks.length > 0 ? `, ${fallbacks.length} differences from the settings` : ''}. Show details`}
        >
          {fallbacks.length > 0 && <TriangleAlert className="size-3.5" aria-hidden="true" />}
          {context && (
            <span data-testid="meter-types" data-type-k={context.typeK.effective} data-type-v={context.typeV.effective}>
              <b>{types}</b>
            </span>
          )}
          <span data-testid="meter-backend" data-backend={capabilities.backend} data-simd={capabilities.simd}>
            {capabilities.backend}
            <span className="max-md:hidden">
              {' '}
              {context?.gpuLayers ? offloadText(context) : simdName(capabilities.simd)}
            </span>
          </span>
        </StripButton>
      }
    >
      <EngineDetails
        capabilities={capabilities}
        context={context}
        fallbacks={fallbacks}
        onDiagnostics={() => {
          setOpen(false);
          ui.setDiagnostics(true);
        }}
      />
    </Popover>
  );
}

function typesLabel(k: string, v: string): string {
  return k === v ? k : `${k}/${v}`;
}
