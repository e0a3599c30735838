/** Makes the client, the store and the subscriptions. Called once, by the entry of the window. */
import { createClient } from '../bridge/createClient';
import { type Command, connect } from './connect';
import { type App, createApp } from './store';

export async function startState(onCommand: (app: App, command: Command) => void): Promise<App> {
  const client = await createClient();
  const app = createApp(client);
  connect(client, app, (command) => onCommand(app, command));
  return app;
}
