import type { Fallback } from '../../../electron/contract/fallbacks';

/** What is not as asked, why, and what to do. */
export function Fallbacks({ fallbacks }: { fallbacks: readonly Fallback[] }) {
  if (fallbacks.length === 0) return null;
  return (
    <section className="mb-3 rounded-lg bg-warn-soft p-3 text-xs" data-testid="fallbacks">
      <h2 className="font-medium text-warn">Fallbacks</h2>
      <ul className="mt-1.5 grid gap-2.5">
        {fallbacks.map(({ id, what, why, advice }) => (
          <li key={`${id} ${what}`} data-testid="fallback" data-id={id} className="[overflow-wrap:anywhere]">
            <p className="font-medium text-ink">{what}</p>
            {why && <p className="text-ink-2">{why}</p>}
            {advice && (
              <p className="text-ink-2">
                <span className="text-warn" aria-hidden="true">
                  →{' '}
                </span>
                {advice}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
