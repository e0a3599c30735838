/** What a person sets for the API in the window. Apart from `api.ts` because all settings hold it. */
import { z } from 'zod';

/** Pages as a browser names them in `Origin`; `localhost`: any page of this machine, `*`: any page at all. */
export function isOrigin(text: string): boolean {
  return text === '*' || text === 'localhost' || (URL.canParse(text) && new URL(text).origin === text);
}

export const apiPorts = { least: 1024, most: 65_535 } as const;
/** of `concertina serve` too */
export const defaultApiPort = 8170;
/** a week */
export const mostIdleMinutes = 10_080;

/** Bounds without defaults, for a patch of the settings. */
export const localApiFields = {
  on: z.boolean(),
  /** of this machine alone */
  port: z.number().int().min(apiPorts.least).max(apiPorts.most),
  /** answers that are written at the same time */
  slots: z.number().int().min(1).max(4),
  /** pages that may ask */
  origins: z.array(z.string().max(300).refine(isOrigin, 'is no origin')).max(32),
  /** a request that names another model has it loaded */
  loadOnRequest: z.boolean(),
  /** the memory of the model is freed after so long without a request or an answer; null: never */
  idleMinutes: z.number().int().min(1).max(mostIdleMinutes).nullable(),
};

/** What a person sets for the API in the window. */
export const localApiSchema = z.object({
  on: localApiFields.on.default(false),
  port: localApiFields.port.default(defaultApiPort),
  slots: localApiFields.slots.default(4),
  origins: localApiFields.origins.default([]),
  loadOnRequest: localApiFields.loadOnRequest.default(true),
  idleMinutes: localApiFields.idleMinutes.default(null),
});
export type LocalApiSettings = z.infer<typeof localApiSchema>;
