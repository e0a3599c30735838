/**
 * The contract with the process that talks to MCP servers. What they send is read there and nowhere else: this is all that comes
 * out of it, bounded. Same rules as `contract.ts`.
 */
import { z } from 'zod';
import { idSchema, limits, nothing, operation } from '../limits';
import type { ClientOf, EventMap, HandlersOf, OperationMap } from '../rpc';
import { toolLimits, toolSchema } from './tools';

/** With the values of its variables and headers. */
export const serverPlaceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    command: z.string().min(1).max(limits.maxPathLength),
    args: z.array(z.string().max(limits.maxPathLength)).max(200),
    /** '': that of the app */
    folder: z.string().max(limits.maxPathLength),
    environment: z.record(z.string(), z.string()),
  }),
  z.object({
    kind: z.literal('address'),
    url: z.url({ protocol: /^https?$/ }).max(2000),
    headers: z.record(z.string(), z.string()),
  }),
]);
export type ServerPlace = z.infer<typeof serverPlaceSchema>;

export const serverToolsSchema = z.object({
  /** as it calls itself */
  title: z.string().max(200),
  version: z.string().max(100),
  tools: z.array(toolSchema).max(toolLimits.toolsOfServer),
  /** tools that cannot be used, with why: sentences */
  refused: z.array(z.string()).max(100),
});
export type ServerTools = z.infer<typeof serverToolsSchema>;

const resultFileSchema = z.object({
  /** a name without a folder; its ending tells the kind */
  name: z.string().min(1).max(100),
  data: z.base64().max(toolLimits.messageBytes),
});
export type ResultFile = z.infer<typeof resultFileSchema>;

export const toolResultSchema = z.object({
  /** the tool says that it failed */
  failed: z.boolean(),
  text: z.string().max(toolLimits.messageBytes),
  /** what is no text, in the order in which the text names it */
  files: z.array(resultFileSchema).max(toolLimits.filesOfResult),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

export const toolProcessOperations = {
  /** starts it and asks for its tools; again: asks for them again */
  connect: operation(
    z.object({ serverId: idSchema, place: serverPlaceSchema, timeoutMs: z.number().int() }),
    serverToolsSchema,
  ),
  /** `arguments`: a JSON object */
  call: operation(
    z.object({
      ...{ serverId: idSchema, callId: idSchema, tool: z.string(), timeoutMs: z.number().int() },
      arguments: z.string().max(toolLimits.arguments),
    }),
    toolResultSchema,
  ),
  cancel: operation(z.object({ callId: idSchema }), nothing),
  /** resolves when its process has ended */
  disconnect: operation(z.object({ serverId: idSchema }), nothing),
} as const satisfies OperationMap;

export const toolProcessEvents = {
  /** the process of a server runs, and leads a group of its own; null: it has ended */
  onChild: z.object({ serverId: idSchema, pid: z.number().int().nullable() }),
  /** a server that was connected is not any more; `why`: a sentence */
  onGone: z.object({ serverId: idSchema, why: z.string() }),
} as const satisfies EventMap;

export type ToolProcessOperations = typeof toolProcessOperations;
export type ToolProcessEvents = typeof toolProcessEvents;
export type ToolProcessHandlers = HandlersOf<ToolProcessOperations>;
export type ToolProcessClient = ClientOf<ToolProcessOperations, ToolProcessEvents>;
