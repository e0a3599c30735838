/**
 * Tools of other programs, which a model can ask for (MCP, Model Context Protocol): what a chat has of them, and the calls in an
 * answer. What a server says of its tools is data: it is bounded here, shown as the server's words, and never trusted.
 */
import { z } from 'zod';
import { type Attachment, attachmentPartSchema, attachmentSchema } from '../lib/attachments';
import { idSchema } from '../limits';

export const toolLimits = {
  servers: 50,
  toolsOfServer: 500,
  toolsOfChat: 128,
  /** characters; a tool beyond one of these is left out, with the reason */
  toolName: 128,
  description: 20_000,
  schema: 100_000,
  /** characters of the arguments of one call */
  arguments: 500_000,
  /** characters of a result that stand in a chat where it could not be kept as a document */
  result: 400_000,
  /** images, sound and other files of one result */
  filesOfResult: 32,
  /** bytes of one message of a server; what sends more is ended */
  messageBytes: 16 * 1024 * 1024,
  callsOfRound: 32,
  mostRounds: 100,
} as const;

/** What a server claims of a tool (MCP `annotations`); null: it says nothing. */
const hintsSchema = z.object({
  readOnly: z.boolean().nullable(),
  destructive: z.boolean().nullable(),
  openWorld: z.boolean().nullable(),
});

export const toolSchema = z.object({
  /** as the server calls it */
  tool: z.string().min(1).max(toolLimits.toolName),
  description: z.string().max(toolLimits.description),
  /** JSON schema of the arguments, an object */
  schema: z.record(z.string(), z.unknown()),
  hints: hintsSchema,
});
export type Tool = z.infer<typeof toolSchema>;

/** A tool as a chat has it: a copy, so that its prompt stays the same when the server says something else of it later. */
export const chatToolSchema = toolSchema.extend({
  serverId: idSchema,
  /** name of the server when it was chosen */
  server: z.string().max(80),
  /** as the model calls it: that of the server, with the server's own name before it where two servers have it */
  name: z.string().min(1).max(200),
});
export type ChatTool = z.infer<typeof chatToolSchema>;

export const toolRefSchema = z.object({ serverId: idSchema, tool: z.string().min(1).max(toolLimits.toolName) });
export type ToolRef = z.infer<typeof toolRefSchema>;

export function toolKey({ serverId, tool }: ToolRef): string {
  return `${serverId}/${tool}`;
}

/** Of a chat. */
export const chatToolsSchema = z.object({
  chosen: z.array(chatToolSchema).max(toolLimits.toolsOfChat),
  /** keys (`toolKey`) of tools that are called in this chat without being asked about */
  allowed: z.array(z.string()).max(1000),
  /** each answer begins with a call: the model has no choice but which */
  mustCall: z.boolean(),
});
export type ChatTools = z.infer<typeof chatToolsSchema>;

export const noTools: ChatTools = { chosen: [], allowed: [], mustCall: false };

/** A tool as the chat template is told of it. */
export const promptToolSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type PromptTool = z.infer<typeof promptToolSchema>;

/** A call as the model wrote it; `arguments`: JSON, or what should have been. */
export const promptCallSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
export type PromptCall = z.infer<typeof promptCallSchema>;

/** `asking`: a person has not decided yet. `canceled`: it was stopped, or the app ended, before there was a result. */
export const callStateSchema = z.enum(['asking', 'running', 'done', 'failed', 'denied', 'canceled']);
export type CallState = z.infer<typeof callStateSchema>;

/** What of a result is kept as a document; `part` null: for the person alone, the model is not given it. */
export const keptResultSchema = attachmentSchema.extend({ part: attachmentPartSchema.nullable() });
export type KeptResult = z.infer<typeof keptResultSchema>;

export const toolCallSchema = promptCallSchema.extend({
  /** as called by the server; '' with `serverId` '': there is no such tool in the chat */
  tool: z.string(),
  serverId: z.string(),
  server: z.string(),
  hints: hintsSchema,
  state: callStateSchema,
  /** a person changed the arguments before it ran */
  edited: z.boolean(),
  /** what the model is given for it; '' while there is none */
  result: z.string(),
  /** characters of the whole result, where more came than the model is given; else not there */
  cutFrom: z.number().int().optional(),
  /** documents: a text that is too long for the context, images, sound and other files; else not there */
  kept: z.array(keptResultSchema).optional(),
  /** how long it ran; null: it did not */
  ms: z.number().nullable(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** What the model wrote before its calls, and the calls. */
export const toolRoundSchema = z.object({ text: z.string(), thinking: z.string(), calls: z.array(toolCallSchema) });
export type ToolRound = z.infer<typeof toolRoundSchema>;

export function isOpenCall({ state }: Pick<ToolCall, 'state'>): boolean {
  return state === 'asking' || state === 'running';
}

/** What the model reads in place of a result. */
export function resultOf({ state, result }: Pick<ToolCall, 'state' | 'result'>): string {
  if (state === 'denied') return 'The user did not allow this call.';
  if (state === 'done' || state === 'failed') return result;
  return 'The call was canceled before it gave a result.';
}

/** What of kept results stands in the prompt behind the results, as the documents of a question stand before its words. */
export function givenOf({ kept = [] }: Pick<ToolCall, 'kept'>): Attachment[] {
  return kept.flatMap(({ part, ...document }) => (part ? [{ ...document, part }] : []));
}

/** The same of all calls, in their order. */
export function givenIn(rounds: readonly ToolRound[] = []): Attachment[] {
  return rounds.flatMap(({ calls }) => calls.flatMap(givenOf));
}

/** What a tool can be given: a JSON object, or nothing, which is an empty one; null: it is neither. */
export function argumentsIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export function isArguments(text: string): boolean {
  return argumentsIn(text) !== null;
}

/** Stands for the message in the frames of the words behind so many rounds. */
export function roundMessageId(messageId: string, rounds: number): string {
  return rounds === 0 ? messageId : `${messageId}#round-${rounds}`;
}

export function promptTools({ chosen }: Pick<ChatTools, 'chosen'>): PromptTool[] {
  return chosen.map(({ name, description, schema }) => ({ name, description, parameters: schema }));
}

/** As the model calls them: letters, digits, `_` and `-`, no two alike. */
export function named(tools: readonly Omit<ChatTool, 'name'>[]): ChatTool[] {
  const plain = tools.map(({ tool }) => usable(tool));
  const taken = new Set<string>();
  return tools.map((tool, index) => {
    const own = plain[index] ?? '';
    const shared = plain.filter((name) => name === own).length > 1;
    const wanted = (shared ? `${usable(tool.server)}_${own}` : own).slice(0, 60);
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
    taken.add(name);
    return { ...tool, name };
  });
}

function usable(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '_') || 'tool';
}
