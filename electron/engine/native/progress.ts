/** Calls of the addon that report fractions and can be cancelled. */
import { cancellationOf } from './guards';
import type { RawAddon, RawCancellation } from './raw';

/** An error of the listener cancels the call and is what the caller gets. */
export async function withProgress<T>(
  addon: RawAddon,
  options: { onProgress?: (fraction: number) => void; signal?: AbortSignal },
  call: (onProgress: (fractions: number[]) => void, cancellation: RawCancellation) => Promise<T>,
): Promise<T> {
  const { cancellation, release } = cancellationOf(addon, options.signal);
  let failure: unknown;
  const onProgress = (fractions: number[]): void => {
    try {
      for (const fraction of fractions) options.onProgress?.(fraction);
    } catch (error) {
      failure ??= error;
      cancellation.cancel();
    }
  };
  try {
    return await call(onProgress, cancellation);
  } catch (error) {
    throw failure ?? error;
  } finally {
    release();
  }
}
