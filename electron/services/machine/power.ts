/**
 * Heat and power as Electron's powerMonitor reports them, kept as one value. Knows powerMonitor only by its shape, so that
 * it runs (and is tested) without Electron; headless mode has none.
 */
import { type Power, powerSchema, unknownPower } from '../../contract/machine';
import { Emitter } from '../lib/emitter';

/** The part of powerMonitor that is used. Platforms have different events; one that never fires leaves its value unknown. */
export interface PowerEvents {
  on(event: 'thermal-state-change' | 'speed-limit-change', listener: (value: unknown) => void): unknown;
  on(event: 'on-battery' | 'on-ac', listener: () => void): unknown;
  /** macOS */
  getCurrentThermalState?(): string;
  isOnBatteryPower?(): boolean;
}

export class PowerWatch {
  readonly changed = new Emitter<Power>();
  private now: Power = unknownPower;

  constructor(events: PowerEvents | null, platform: string = process.platform) {
    if (!events) return;
    // elsewhere they answer too, with a value that means nothing
    const reports = platform === 'darwin' || platform === 'win32';
    if (platform === 'darwin') this.now = withThermal(this.now, events.getCurrentThermalState?.());
    if (reports) this.now = { ...this.now, onBattery: events.isOnBatteryPower?.() ?? null };
    events.on('thermal-state-change', (value) => this.update(withThermal(this.now, detail(value, 'state'))));
    events.on('speed-limit-change', (value) => this.update(withSpeedLimit(this.now, detail(value, 'limit'))));
    events.on('on-battery', () => this.update({ ...this.now, onBattery: true }));
    events.on('on-ac', () => this.update({ ...this.now, onBattery: false }));
  }

  current(): Power {
    return this.now;
  }

  private update(next: Power): void {
    if (JSON.stringify(next) === JSON.stringify(this.now)) return;
    this.now = next;
    this.changed.emit(next);
  }
}

/** Electron hands over one object with the value in it; some versions the value itself. */
function detail(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : value;
}

function withThermal(power: Power, state: unknown): Power {
  const thermal = powerSchema.shape.thermal.safeParse(state);
  return { ...power, thermal: thermal.success ? thermal.data : 'unknown' };
}

function withSpeedLimit(power: Power, limit: unknown): Power {
  const valid = typeof limit === 'number' && Number.isFinite(limit) && limit >= 0 && limit <= 100;
  return { ...power, speedLimit: valid ? limit : null };
}
