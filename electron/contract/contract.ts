/**
 * The contract between a window and the services behind it: each operation and event is declared once, in the file of its
 * domain, and joined here. The preload bridge, the gate in main, the WebSocket server and its client all derive from these maps.
 */
import { z } from 'zod';
import { apiEvents, apiOperations } from './api';
import { chatEvents, chatOperations } from './chatOperations';
import { compareEvents, compareOperations } from './compare/compare';
import { documentEvents, documentOperations } from './documents';
import { engineEvents, engineOperations } from './engine';
import { errorPayloadSchema } from './errors';
import { fitOperations } from './fit';
import { hubEvents, hubOperations } from './hub';
import { briefEvents, briefOperations } from './lib/brief';
import { type CommandId, commands } from './lib/commands';
import { updateEvents, updateOperations } from './lib/domains/updates';
import { workerEvents, workerOperations } from './lib/domains/workers';
import { presetEvents, presetOperations } from './lib/presets';
import { shelfEvents, shelfOperations } from './lib/shelf';
import { idSchema, nothing, operation } from './limits';
import { machineEvents, machineOperations } from './machine';
import { modelEvents, modelOperations } from './models';
import type { ClientOf, Envelope, EventMap, HandlersOf, InputOf, OperationMap, OutputOf } from './rpc';
import { settingsEvents, settingsOperations } from './settings';
import { toolEvents, toolOperations } from './tools/operations';

const appInfoSchema = z.object({
  version: z.string(),
  platform: z.string(),
  /** true: served to a browser; no native dialogs */
  headless: z.boolean(),
  runtime: z.string(),
  /** things that a person should know about this start (test runtime in use, settings file set aside, ...) */
  notices: z.array(z.string()),
});
export type AppInfo = z.infer<typeof appInfoSchema>;

/** null: everything is on disk. Else what is not, why, and what to do; it is tried again by itself */
const unsavedSchema = z.object({ error: errorPayloadSchema.nullable() });

const httpsSchema = z.url({ protocol: /^https$/ });

export const operations = {
  'app.info': operation(nothing, appInfoSchema),
  /** what the disk did not take yet */
  'app.unsaved': operation(nothing, unsavedSchema),
  /** everything for a bug report, without private text */
  'app.diagnostics': operation(nothing, z.object({ text: z.string() })),
  /** whose work is in the app, with the license texts: a few hundred kilobytes */
  'app.thirdPartyNotices': operation(nothing, z.object({ text: z.string() })),
  'app.openExternal': operation(z.object({ url: httpsSchema }), nothing),

  ...settingsOperations,
  ...presetOperations,
  ...chatOperations,
  ...briefOperations,
  ...modelOperations,
  ...hubOperations,
  ...documentOperations,
  ...shelfOperations,
  ...compareOperations,
  ...machineOperations,
  ...fitOperations,
  ...engineOperations,
  ...apiOperations,
  ...toolOperations,
  ...updateOperations,
  ...workerOperations,
} as const satisfies OperationMap;

export const events = {
  /** a window-level menu or key command from the main process */
  onCommand: z.object({
    command: z.enum<(CommandId | 'quote')[]>([...commands.map(({ id }) => id), 'quote']),
  }),

  /** a person clicked what the desktop said of a chat */
  onOpenChat: z.object({ chatId: idSchema }),

  /** a person chose a link in the menu of a right click; the page asks before it is opened */
  onOpenLink: z.object({ url: httpsSchema }),

  onUnsaved: unsavedSchema,

  ...settingsEvents,
  ...presetEvents,
  ...chatEvents,
  ...briefEvents,
  ...modelEvents,
  ...hubEvents,
  ...documentEvents,
  ...shelfEvents,
  ...compareEvents,
  ...machineEvents,
  ...engineEvents,
  ...apiEvents,
  ...toolEvents,
  ...updateEvents,
  ...workerEvents,
} as const satisfies EventMap;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
export type OperationInput<N extends OperationName> = InputOf<Operations[N]>;
export type OperationOutput<N extends OperationName> = OutputOf<Operations[N]>;

export type Events = typeof events;
export type EventName = keyof Events;
export type EventPayload<N extends EventName> = z.output<Events[N]>;

export type Handlers = HandlersOf<Operations>;
export type Client = ClientOf<Operations, Events>;

/** The window API that the preload script puts on `window.concertina` in Electron. */
export interface WindowApi {
  /** the raw call: answers with an envelope, never throws (errors do not survive contextBridge as classes) */
  call(name: OperationName, input: unknown): Promise<Envelope>;
  on(name: EventName, listener: (payload: unknown) => void): () => void;
  /** adds dropped files by their real paths, which the page itself never sees */
  addDroppedFiles(files: File[]): Promise<Envelope>;
  /** `documents.addPaths` for dropped files, in the same way */
  attachDroppedFiles(files: File[]): Promise<Envelope>;
}
