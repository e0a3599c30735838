/** The application menu. Commands go to the page as events; the page decides what they mean at the moment. */
import { app, BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron';
import { channels } from '../contract/channels';
import type { EventPayload } from '../contract/contract';

type Command = EventPayload<'onCommand'>['command'];

export function setUpMenu(): void {
  const isMac = process.platform === 'darwin';
  const settings = item('Settings…', 'CmdOrCtrl+,', 'settings');
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  const appMenu: MenuItemConstructorOptions = {
    label: app.name,
    submenu: [
      { role: 'about' },
      separator,
      settings,
      separator,
      { role: 'hide' },
      { role: 'hideOthers' },
      { role: 'quit' },
    ],
  };
  const template: MenuItemConstructorOptions[] = [
    ...(isMac ? [appMenu] : []),
    {
      label: 'File',
      submenu: [
        item('New chat', 'CmdOrCtrl+N', 'new-chat'),
        ...(isMac ? [] : [settings]),
        separator,
        { role: isMac ? 'close' : 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'Chat',
      submenu: [
        item('Search chats', 'CmdOrCtrl+K', 'search'),
        item('Write a message', 'CmdOrCtrl+L', 'focus-input'),
        item('Stop the answer', 'CmdOrCtrl+.', 'stop'),
      ],
    },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        separator,
        { role: 'togglefullscreen' },
        { role: 'reload' },
        { role: 'toggleDevTools' },
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        item('Diagnostics…', 'CmdOrCtrl+D', 'diagnostics'),
        item('Third-party notices…', undefined, 'third-party-notices'),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

function item(label: string, accelerator: string | undefined, command: Command): MenuItemConstructorOptions {
  return { label, accelerator, click: () => sendCommand(command) };
}

function sendCommand(command: Command): void {
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  window?.webContents.send(channels.event, 'onCommand', { command });
}
