/** Chats that are dragged within the list. Files from outside are for the whole window (`app/DropZone`). */
import { type DragEvent, useState } from 'react';

const kind = 'application/x-concertina-chat';

export function startDrag(event: DragEvent, chatId: string): void {
  event.dataTransfer.setData(kind, chatId);
  event.dataTransfer.effectAllowed = 'move';
}

/** For a place that takes chats: whether one hangs over it, and its listeners. */
export function useDropPlace(onDropped: (chatId: string) => void) {
  const [over, setOver] = useState(false);
  const isChat = (event: DragEvent) => event.dataTransfer.types.includes(kind);
  return {
    over,
    listeners: {
      onDragOver(event: DragEvent) {
        if (!isChat(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave(event: DragEvent) {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setOver(false);
      },
      onDrop(event: DragEvent) {
        if (!isChat(event)) return;
        event.preventDefault();
        setOver(false);
        onDropped(event.dataTransfer.getData(kind));
      },
    },
  };
}
