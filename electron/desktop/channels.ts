/** Channels between a window and the main process. Alone, so that the bridge of a page, which loads before it, brings little else. */
export const channels = {
  call: 'concertina:call',
  event: 'concertina:event',
  /** carries a message port to the engine process */
  stream: 'concertina:stream',
} as const;
