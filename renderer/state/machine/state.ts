import type { MachineProfile } from '../../../electron/contract/machine';

export interface MachineSlice {
  /** undefined: not asked for yet; null: never measured */
  profile: MachineProfile | null | undefined;
  /** 0..1 while the machine is measured; null otherwise */
  fraction: number | null;
}

export const initialMachine: MachineSlice = { profile: undefined, fraction: null };
