/** A machine that falls asleep cuts its downloads. The screen may still go dark. */
import { powerSaveBlocker } from 'electron';

export function keepAwake(): (on: boolean) => void {
  let id: number | null = null;
  return (on) => {
    if (on) id ??= powerSaveBlocker.start('prevent-app-suspension');
    else if (id !== null) {
      powerSaveBlocker.stop(id);
      id = null;
    }
  };
}
