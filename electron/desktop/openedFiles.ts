/** Model files that the system hands to the app: a double click on a .gguf file, or its path on the command line. */
import { resolve } from 'node:path';
import { app, dialog } from 'electron';
import type { OperationInput, OperationName, OperationOutput } from '../contract/contract';
import type { ErrorPayload } from '../contract/errors';
import type { Envelope } from '../contract/rpc';

interface Caller {
  call(name: OperationName, input: unknown): Promise<Envelope>;
}

/** Those among the arguments of a start. @param folder that they are relative to */
export function modelFilesIn(args: readonly string[], folder: string): string[] {
  return args.filter((arg) => !arg.startsWith('-') && /\.gguf$/i.test(arg)).map((arg) => resolve(folder, arg));
}

/**
 * Puts them onto the list, where they may be already, and loads the first. @param refuse hears why one cannot be used
 */
export async function openModels(
  services: Caller,
  paths: readonly string[],
  refuse: (error: ErrorPayload) => void,
): Promise<void> {
  if (paths.length === 0) return;
  const result = await ask('models.addPaths', { paths: [...paths] });
  for (const { error } of result?.refused ?? []) refuse(error);
  const [first] = result?.added ?? [];
  if (first) await ask('models.select', { modelId: first.id });

  async function ask<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N> | null> {
    const envelope = await services.call(name, input);
    if (envelope.ok) return envelope.value as OperationOutput<N>;
    refuse(envelope.error);
    return null;
  }
}

/** macOS sends its files by an event, which may come before the app is ready: they wait for `open`. */
export class OpenedFiles {
  private open: ((paths: string[]) => void) | null = null;
  private waiting: string[];

  constructor() {
    this.waiting = modelFilesIn(process.argv.slice(1), process.cwd());
    app.on('open-file', (event, path) => {
      event.preventDefault();
      this.take(modelFilesIn([path], '/'));
    });
    app.on('second-instance', (_event, args, folder) => this.take(modelFilesIn(args.slice(1), folder)));
  }

  /** From now on each is opened as it comes, and those that came before at once. */
  openWith(services: Caller): void {
    this.open = (paths) => void openModels(services, paths, showRefusal);
    this.open(this.waiting);
    this.waiting = [];
  }

  private take(paths: string[]): void {
    if (this.open) this.open(paths);
    else this.waiting.push(...paths);
  }
}

function showRefusal({ message, hint }: ErrorPayload): void {
  void dialog.showMessageBox({ type: 'warning', message, detail: hint });
}
