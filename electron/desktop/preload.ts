/**
 * The bridge of the sandboxed page: the operations and events of the contract by name, and nothing else of Electron. A page waits for
 * it, so of the contract it has the types alone: which operations there are the gate in the main process knows.
 */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { EventName, OperationName, WindowApi } from '../contract/contract';
import type { Envelope } from '../contract/rpc';
import { channels } from './channels';

type Listener = (payload: unknown) => void;

const listeners = new Map<EventName, Set<Listener>>();

function emit(name: EventName, payload: unknown): void {
  for (const listener of listeners.get(name) ?? []) listener(payload);
}

/** Text of files comes back from these: a page that was tricked must not name files that nobody dropped on it. */
const droppedOnly: readonly OperationName[] = ['documents.addPaths'];

async function call(name: OperationName, input: unknown): Promise<Envelope> {
  if (droppedOnly.includes(name)) return refusal('Drop the files on the window, or choose them in the dialog.');
  return invoke(name, input);
}

async function invoke(name: OperationName, input: unknown): Promise<Envelope> {
  try {
    return await ipcRenderer.invoke(channels.call, name, input);
  } catch (error) {
    // what cannot be cloned (a function, a DOM node) never leaves the page
    return refusal(error instanceof Error ? error.message : String(error));
  }
}

function on(name: EventName, listener: Listener): () => void {
  const set = listeners.get(name) ?? new Set();
  listeners.set(name, set.add(listener));
  return () => void set.delete(listener);
}

function addDroppedFiles(files: File[]): Promise<Envelope> {
  return callWithPaths('models.addPaths', files);
}

function attachDroppedFiles(files: File[]): Promise<Envelope> {
  return callWithPaths('documents.addPaths', files);
}

/** `files` is whatever the page passed: only of a File that the system made is there a path. */
async function callWithPaths(name: OperationName, files: unknown): Promise<Envelope> {
  const dropped = Array.isArray(files) && files.every((file) => file instanceof File) ? files : [];
  const paths = dropped.map((file) => webUtils.getPathForFile(file)).filter((path) => path !== '');
  if (paths.length === 0) return refusal('What was dropped is not a file on this machine.');
  return invoke(name, { paths });
}

function refusal(message: string): Envelope {
  return { ok: false, error: { code: 'bad-request', message, hint: '' } };
}

ipcRenderer.on(channels.event, (_event, name: EventName, payload: unknown) => emit(name, payload));

// A port of its own to the engine process for each page, and a new one when the engine starts again. Two at a time would
// bring every frame twice.
let stream: MessagePort | undefined;
ipcRenderer.on(channels.stream, (event) => {
  stream?.close();
  stream = event.ports[0];
  if (stream) stream.onmessage = ({ data }) => emit('onStream', data);
});

const api: WindowApi = { call, on, addDroppedFiles, attachDroppedFiles };
contextBridge.exposeInMainWorld('concertina', api);
