/** Turns events of the services into actions of the slices, and fetches everything when a connection opens. */

import type { EventPayload } from '../../electron/contract/contract';
import type { AppClient } from '../bridge/client';
import { createClient } from '../bridge/createClient';
import { type AppStore, createApp } from './store';

export type Command = EventPayload<'onCommand'>['command'];

export function connect(client: AppClient, app: AppStore, onCommand: (command: Command) => void): () => void {
  const { actions } = app;
  let opened = false;
  // The services tell only what changed; the plots want a point for each second.
  const readings = setInterval(() => {
    if (app.store.getState().engine.connection.phase === 'open') actions.meter.read();
  }, 1000);
  const off = [
    client.on('onSettings', actions.settings.receive),
    client.on('onChats', actions.chats.receive),
    client.on('onPresets', actions.presets.receive),
    client.on('onModels', actions.models.receive),
    client.on('onAddProgress', actions.models.receiveAddProgress),
    client.on('onDownloads', actions.downloads.receive),
    client.on('onCompare', actions.compare.receive),
    client.on('onCompareFrame', actions.compare.frame),
    client.on('onCompareRuns', actions.compare.receiveRuns),
    client.on('onDocumentJobs', (jobs) => {
      actions.documents.receiveJobs(jobs);
      void actions.shelf.takeIn();
    }),
    client.on('onShelf', actions.shelf.receive),
    client.on('onSearchModel', actions.documents.receiveSearchModel),
    client.on('onShelfReadings', actions.shelf.receiveReadings),
    client.on('onSearch', (progress) => {
      actions.chats.receiveProgress(progress);
      actions.documents.receiveProgress(progress);
    }),
    client.on('onMachine', actions.machine.receive),
    client.on('onEngine', actions.engine.receive),
    client.on('onUnsaved', actions.engine.receiveUnsaved),
    client.on('onApi', actions.api.receive),
    client.on('onTools', actions.tools.receive),
    client.on('onUpdates', actions.updates.receive),
    client.on('onWorkers', actions.engine.receiveWorkers),
    client.on('onPower', actions.meter.receivePower),
    client.on('onMessage', actions.conversation.receive),
    client.on('onWaiting', actions.waiting.receive),
    client.on('onBrief', actions.briefs.receive),
    client.on('onStream', actions.stream.frame),
    client.on('onOpenChat', ({ chatId }) => {
      actions.compare.close();
      void actions.conversation.open(chatId);
    }),
    client.on('onOpenLink', ({ url }) => void actions.ui.askToOpen(url)),
    client.on('onCommand', ({ command }) => onCommand(command)),
    client.onConnection((connection) => {
      actions.engine.receiveConnection(connection);
      if (connection.phase !== 'open') return;
      // What was sent while the connection was gone is lost: the stored texts are the base again.
      if (opened) actions.stream.forgetTexts();
      void refresh(client, app, opened);
      opened = true;
    }),
  ];
  return () => {
    clearInterval(readings);
    for (const stop of off) stop();
  };
}

async function refresh(client: AppClient, { store, actions }: AppStore, again: boolean): Promise<void> {
  const openChatId = store.getState().conversation.chat?.id;
  const openRunId = store.getState().compare.run?.id;
  const outcomes = await Promise.allSettled([
    client.call('app.info', undefined).then(actions.engine.receiveInfo),
    client.call('app.unsaved', undefined).then(actions.engine.receiveUnsaved),
    client.call('app.power', undefined).then(actions.meter.receivePower),
    client.call('settings.get', undefined).then(actions.settings.receive),
    client.call('engine.status', undefined).then(actions.engine.receive),
    client.call('api.status', undefined).then(actions.api.receive),
    client.call('tools.state', undefined).then(actions.tools.receive),
    client.call('updates.status', undefined).then(actions.updates.receive),
    client.call('workers.list', undefined).then(actions.engine.receiveWorkers),
    client.call('presets.list', undefined).then(actions.presets.receive),
    client.call('models.list', undefined).then(actions.models.receive),
    client.call('downloads.list', undefined).then(actions.downloads.receive),
    client.call('chats.list', undefined).then(actions.chats.receive),
    client.call('waiting.list', undefined).then(actions.waiting.receive),
    client.call('compare.list', undefined).then(actions.compare.receiveRuns),
    client.call('documents.jobs', undefined).then(actions.documents.receiveJobs),
    client.call('shelf.get', undefined).then(actions.shelf.receive),
    client.call('documents.searchModel', undefined).then(actions.documents.receiveSearchModel),
    client.call('shelf.readings', undefined).then(actions.shelf.receiveReadings),
    again && openRunId ? actions.compare.refresh(openRunId) : undefined,
    again && openChatId ? actions.conversation.open(openChatId) : undefined,
  ]);
  // A connection that breaks in the middle has its own banner, and the next one starts this again.
  if (store.getState().engine.connection.phase !== 'open') return;
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) actions.ui.report(failed.reason);
}

// Makes the client, the store and the subscriptions. Called once, by the entry of the window.

export async function startState(onCommand: (app: AppStore, command: Command) => void): Promise<AppStore> {
  const client = await createClient();
  const app = createApp(client);
  connect(client, app, (command) => onCommand(app, command));
  return app;
}
