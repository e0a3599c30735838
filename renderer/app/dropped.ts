/** What is dropped: models and folders go to the model list, everything else to the question. Each says what it refuses. */

export interface DroppedItem {
  file: File;
  folder: boolean;
}

export interface Dropped {
  documents: File[];
  models: File[];
}

/** Only while the event is handled: afterwards the transfer is empty. */
export function droppedItems(transfer: DataTransfer): DroppedItem[] {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  return items.flatMap((item) => {
    const file = item.getAsFile();
    return file ? { file, folder: item.webkitGetAsEntry()?.isDirectory ?? false } : [];
  });
}

export function sortDropped(items: readonly DroppedItem[]): Dropped {
  const isModel = ({ file, folder }: DroppedItem) => folder || /\.gguf$/i.test(file.name);
  return {
    documents: items.filter((item) => !isModel(item)).map(({ file }) => file),
    models: items.filter(isModel).map(({ file }) => file),
  };
}
