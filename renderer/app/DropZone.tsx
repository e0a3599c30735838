import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect, useState } from 'react';
import { selectShelfOpen } from '../state/slices/shelf';
import { useActions, useApp } from '../state/useApp';
import { Bellows } from '../ui/pictures/Bellows';

/** Takes files anywhere in the window: models and folders onto the list, all others to the question, or onto the shelf while it is shown. */
export function DropZone() {
  const [over, setOver] = useState(false);
  const { documents, models, shelf, ui } = useActions();
  const ontoShelf = useApp(selectShelfOpen);

  useEffect(() => {
    // A pointer inside crosses many elements; only the last leave counts.
    let depth = 0;

    function carriesFiles(event: DragEvent): boolean {
      return event.dataTransfer?.types.includes('Files') ?? false;
    }
    function enter(event: DragEvent): void {
      if (!carriesFiles(event)) return;
      depth += 1;
      setOver(true);
    }
    function leave(event: DragEvent): void {
      if (!carriesFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    }
    // of what left unseen: no pointer moves, and no key comes, while files hang over the window
    function end(event: Event): void {
      if (depth === 0 || (event instanceof KeyboardEvent && event.key !== 'Escape')) return;
      depth = 0;
      setOver(false);
    }
    function hover(event: DragEvent): void {
      if (carriesFiles(event)) event.preventDefault();
    }
    function drop(event: DragEvent): void {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (event.dataTransfer) void take(event.dataTransfer);
    }
    async function take(transfer: DataTransfer): Promise<void> {
      const dropped = sortDropped(droppedItems(transfer));
      if (dropped.documents.length > 0 && ontoShelf) void shelf.addFiles(dropped.documents);
      else if (dropped.documents.length > 0) {
        ui.focusComposer();
        void documents.attachFiles(dropped.documents);
      }
      if (dropped.models.length === 0) return;
      ui.setPicker(true);
      await models.addDropped(dropped.models);
    }

    const listeners = [
      ['dragenter', enter],
      ['dragleave', leave],
      ['dragover', hover],
      ['drop', drop],
      ['pointermove', end],
      ['keydown', end],
    ] as const;
    for (const [name, listener] of listeners) window.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of listeners) window.removeEventListener(name, listener as EventListener);
    };
  }, [documents, models, ontoShelf, shelf, ui]);

  if (!over) return null;
  return (
    <section
      aria-label={t`Drop to add`}
      data-testid="drop-overlay"
      className="pointer-events-none fixed inset-0 z-50 flex items-center justify-center bg-paper/85 backdrop-blur-xs"
    >
      <div className="rise flex flex-col items-center gap-4 rounded-2xl border-2 border-dashed border-accent bg-raised px-14 py-10 shadow-pop">
        <Bellows pleats={14} breathing className="h-8 w-32" />
        <p className="font-serif text-xl text-ink">
          <Trans>Drop to add</Trans>
        </p>
        <p className="text-sm text-ink-2">
          {ontoShelf
            ? t`A .gguf file or a folder joins the models. Any other file joins the shelf.`
            : t`A .gguf file or a folder joins the models. Any other file joins your question.`}
        </p>
      </div>
    </section>
  );
}

// What is dropped: models and folders go to the model list, everything else to the question. Each says what it refuses.

interface DroppedItem {
  file: File;
  folder: boolean;
}

interface Dropped {
  documents: File[];
  models: File[];
}

/** Only while the event is handled: afterwards the transfer is empty. */
function droppedItems(transfer: DataTransfer): DroppedItem[] {
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
