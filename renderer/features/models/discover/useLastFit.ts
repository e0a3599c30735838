import { useState } from 'react';
import type { HubFit } from '../../../../electron/contract/hub';

interface LastFit {
  fit: HubFit | null;
  /** it belongs to other settings; those of now are being asked about */
  stale: boolean;
}

/** Keeps the last answer on the screen while the next one is being found, so that a slider does not make it flicker. */
export function useLastFit(subject: string, current: HubFit | null): LastFit {
  const [kept, setKept] = useState<{ subject: string; fit: HubFit } | null>(null);
  if (current && (kept?.fit !== current || kept.subject !== subject)) setKept({ subject, fit: current });
  if (current) return { fit: current, stale: false };
  return { fit: kept?.subject === subject ? kept.fit : null, stale: true };
}
