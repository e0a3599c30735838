/** What the platform tells of heat and power. What it does not tell stays unknown; nothing is guessed. */
import { z } from 'zod';

export const powerSchema = z.object({
  /** macOS */
  thermal: z.enum(['unknown', 'nominal', 'fair', 'serious', 'critical']),
  /** per cent of the processor's full speed; macOS and Windows, null until they tell */
  speedLimit: z.number().nullable(),
  /** null: not told */
  onBattery: z.boolean().nullable(),
});
export type Power = z.infer<typeof powerSchema>;

export const unknownPower: Power = { thermal: 'unknown', speedLimit: null, onBattery: null };
