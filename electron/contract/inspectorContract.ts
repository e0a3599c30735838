/**
 * The contract with the process that looks at model files: headers, and dry runs of loads. A file may be any file, and
 * llama.cpp ends the process over some of them, so this is not the process that answers. Same rules as `contract.ts`.
 */
import { z } from 'zod';
import { compareConfigurationSchema, comparePlanSchema } from './compare';
import { memoryEstimateSchema } from './engine';
import { engineEvents } from './engineContract';
import { contextFitSchema, machineMemorySchema } from './fit';
import { idSchema } from './limits';
import { modelInfoSchema } from './models';
import { type ClientOf, type HandlersOf, type OperationMap, operation } from './operation';
import { contextSettingsSchema } from './settings';

const file = z.object({ path: z.string() });
/** the engine's view; left out, when there is no engine: the process's own, with nothing loaded */
const machine = machineMemorySchema.optional();

/** See `engine.fit` of the contract. */
export const fitRequestSchema = file.extend({
  context: contextSettingsSchema,
  longest: z.number().int().optional(),
  asker: idSchema.optional(),
});
export type FitRequest = z.infer<typeof fitRequestSchema>;

export const inspectorOperations = {
  inspect: operation(file, modelInfoSchema),
  estimate: operation(file.extend({ context: contextSettingsSchema }), memoryEstimateSchema),
  fit: operation(fitRequestSchema.extend({ machine }), contextFitSchema),
  planComparison: operation(
    file.extend({
      settings: contextSettingsSchema,
      configurations: z.array(compareConfigurationSchema),
      machine,
    }),
    comparePlanSchema,
  ),
} as const satisfies OperationMap;

export const inspectorEvents = { onReady: engineEvents.onReady, onLog: engineEvents.onLog } as const;

export type InspectorOperations = typeof inspectorOperations;
export type InspectorEvents = typeof inspectorEvents;
export type InspectorHandlers = HandlersOf<InspectorOperations>;
export type InspectorClient = ClientOf<InspectorOperations, InspectorEvents>;
