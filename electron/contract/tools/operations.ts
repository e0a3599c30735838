/** What a window does with MCP servers and their tools. Values of variables and headers go in, and never come out. */
import { z } from 'zod';
import { chatSchema } from '../chats';
import { errorPayloadSchema } from '../errors';
import { idSchema, limits, nothing, operation } from '../limits';
import type { EventMap, OperationMap } from '../rpc';
import { toolLimits, toolRefSchema, toolSchema } from './tools';

export const serverNameSchema = z.string().trim().min(1).max(40);
const timeoutSeconds = z.number().int().min(1).max(3600);
const secretName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\s=:]+$/, 'A name has no blanks and no "=" or ":".');
/** null: the value that is kept stays */
const secrets = z.record(secretName, z.string().max(20_000).nullable());

/** As a person writes it down. */
export const serverDraftSchema = z.object({
  name: serverNameSchema,
  place: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('command'),
      command: z.string().trim().min(1).max(limits.maxPathLength),
      args: z.array(z.string().max(limits.maxPathLength)).max(200),
      folder: z.string().trim().max(limits.maxPathLength),
    }),
    z.object({ kind: z.literal('address'), url: z.url({ protocol: /^https?$/ }).max(2000) }),
  ]),
  /** variables of the environment, or headers */
  secrets,
  timeoutSeconds,
});
export type ServerDraft = z.infer<typeof serverDraftSchema>;

export const serverSchema = serverDraftSchema.omit({ secrets: true }).extend({
  id: idSchema,
  secretNames: z.array(z.string()),
  state: z.enum(['off', 'starting', 'ready', 'failed']),
  /** the last thing that went wrong */
  error: errorPayloadSchema.nullable(),
  /** as it calls itself; '' until it has run */
  title: z.string(),
  version: z.string(),
  /** since the app started; null: it has not been asked */
  tools: z.array(toolSchema).nullable(),
  refused: z.array(z.string()),
  /** tools that are called without being asked about, in every chat */
  allowed: z.array(z.string()),
});
export type ToolServer = z.infer<typeof serverSchema>;

export const toolStateSchema = z.object({
  servers: z.array(serverSchema),
  /** where values of variables and headers are kept: encrypted by the keyring of the system, or readable in a file */
  secretsIn: z.enum(['keyring', 'file']),
  /** calls in a row that an answer may make, round by round */
  rounds: z.number().int().min(1).max(toolLimits.mostRounds),
});
export type ToolState = z.infer<typeof toolStateSchema>;

const tokens = z.number().int();

/** In tokens of the loaded model: what the prompt of the chat grows by. */
export const toolPriceSchema = z.object({
  /** all that are asked about, together: what the template says around them counts once */
  total: tokens,
  /** those that the chat has, together */
  ofChat: tokens,
  /** each server with its tools, as if there were no other; null: the template refuses them */
  servers: z.array(z.object({ serverId: idSchema, tokens: tokens.nullable() })),
  /** each tool, as if there were no other */
  tools: z.array(toolRefSchema.extend({ tokens: tokens.nullable() })),
});
export type ToolPrice = z.infer<typeof toolPriceSchema>;

const callRefSchema = z.object({ messageId: idSchema, callId: idSchema });

const callAnswerSchema = callRefSchema.extend({
  /** `chat`, `always`: and from now on without being asked */
  decision: z.enum(['once', 'chat', 'always', 'deny']),
  /** left out: as the model wrote them */
  arguments: z.string().max(toolLimits.arguments).optional(),
});
export type CallAnswer = z.infer<typeof callAnswerSchema>;

const server = z.object({ serverId: idSchema });
const refs = z.array(toolRefSchema).max(toolLimits.toolsOfChat);

export const toolOperations = {
  'tools.state': operation(nothing, toolStateSchema),
  /** `serverId` null: a new one. One that runs is ended */
  'tools.save': operation(z.object({ serverId: idSchema.nullable(), draft: serverDraftSchema }), server),
  'tools.remove': operation(server, nothing),
  /** starts it and asks for its tools */
  'tools.connect': operation(server, nothing),
  'tools.disconnect': operation(server, nothing),
  /** servers of the common form {"mcpServers": {...}} */
  'tools.import': operation(
    z.object({ text: z.string().max(1_000_000) }),
    z.object({ added: z.array(z.string()), refused: z.array(z.object({ name: z.string(), why: z.string() })) }),
  ),
  'tools.setRounds': operation(toolStateSchema.pick({ rounds: true }), nothing),
  /** asks about it again */
  'tools.forget': operation(toolRefSchema, nothing),
  /** of tools that the chat has, or that servers have told of */
  'tools.price': operation(z.object({ chatId: idSchema.nullable(), tools: refs }), toolPriceSchema),
  /** what the chat may call from now on; it is read again from its start */
  'tools.choose': operation(
    z.object({ chatId: idSchema, tools: refs, mustCall: z.boolean() }),
    chatSchema.pick({ tools: true }),
  ),
  'tools.answer': operation(callAnswerSchema, nothing),
  'tools.cancel': operation(callRefSchema, nothing),
} as const satisfies OperationMap;

export const toolEvents = { onTools: toolStateSchema } as const satisfies EventMap;
