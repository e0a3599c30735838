/** Loads by number: the latest one wins, those before it are ended, and a person can cancel it. */
import { ConcertinaError } from '../../contract/errors';
import type { EngineHost } from './engineHost';
import type { LiveStatus } from './engineStatus';

export class LoadTurns {
  private latest = 0;
  /** the load that a person cancelled, which may still wait for the process to start */
  private cancelled = 0;
  /** tells the host of the end of a load that was cancelled */
  private ended: (() => void) | null = null;

  constructor(
    private readonly host: EngineHost,
    private readonly status: LiveStatus,
  ) {}

  /** how many loads were begun: another number means that a model was chosen meanwhile */
  get number(): number {
    return this.latest;
  }

  /** @returns the number of the load that begins, which is the latest now */
  begin(): number {
    return ++this.latest;
  }

  isLatest(number: number): boolean {
    return number === this.latest;
  }

  /** Throws `cancelled` when a person cancelled this load before it got as far as the engine. */
  requireWanted(number: number): void {
    if (number === this.cancelled) throw new ConcertinaError('cancelled', 'Loading was cancelled.');
  }

  /**
   * For a person who does not want to wait. While the model is measured, only the measuring ends: turbo works without.
   * Rejects when the engine cannot be told.
   */
  async cancel(): Promise<void> {
    const { state, loadStep } = this.status.current;
    if (state === 'loading' && loadStep === 'calibration' && this.host.state === 'ready') {
      await this.host.client.call('skipCalibration', undefined);
      return;
    }
    this.cancelled = this.latest;
    await this.endRunning();
  }

  /** Ends the load that the engine works on, if there is one. Rejects when the engine cannot be told. */
  async endRunning(): Promise<void> {
    if (this.status.current.state !== 'loading' || this.host.state !== 'ready') return;
    this.ended ??= this.host.expectEnd();
    await this.host.client.call('cancelLoad', undefined);
  }

  /** The engine has left a load behind: one that was cancelled is not waited for any longer. */
  tellEnded(): void {
    this.ended?.();
    this.ended = null;
  }
}
