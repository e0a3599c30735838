/** What was measured of this machine, and the settings that follow from it. */
import { z } from 'zod';
import { cacheTypeSchema } from './cacheTypes';

export const bandwidthSchema = z.object({
  threads: z.number().int().min(1),
  /** of a sequential read far above the caches */
  bytesPerSecond: z.number().min(0),
});
export type Bandwidth = z.infer<typeof bandwidthSchema>;

/** `bandwidth`: rising in threads; empty where there was too little memory to measure. */
export const memoryProbeSchema = z.object({
  totalBytes: z.number(),
  freeBytes: z.number(),
  bandwidth: z.array(bandwidthSchema),
});
export type MemoryProbe = z.infer<typeof memoryProbeSchema>;

export const machineFactsSchema = memoryProbeSchema.extend({
  /** milliseconds since the epoch */
  measuredAt: z.number(),
  physicalCores: z.number().int().min(1),
  backend: z.string(),
  /** name of the GPU that models run on; null: none */
  gpu: z.string().nullable(),
  /** null where the platform does not tell */
  onBattery: z.boolean().nullable(),
});
export type MachineFacts = z.infer<typeof machineFactsSchema>;

/** One value, and a sentence that says why. */
const chosen = <T extends z.ZodType>(value: T) => z.object({ value, why: z.string() });

export const machineChoiceSchema = z.object({
  /** 0: one for each physical core */
  threads: chosen(z.number().int().min(0)),
  /** null: no model to choose for */
  nCtx: chosen(z.number().int()).nullable(),
  /** of K and V */
  cache: chosen(cacheTypeSchema),
});
export type MachineChoice = z.infer<typeof machineChoiceSchema>;

export const machineProfileSchema = z.object({ facts: machineFactsSchema, choice: machineChoiceSchema });
export type MachineProfile = z.infer<typeof machineProfileSchema>;

/** What a window hears while the machine is measured; null: it is not. */
export const machineProgressSchema = z.object({ fraction: z.number().nullable() });
export type MachineProgress = z.infer<typeof machineProgressSchema>;
