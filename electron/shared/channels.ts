/** Names of the channels between a window and the main process of Electron. */
export const channels = {
  call: 'concertina:call',
  event: 'concertina:event',
  /** carries a message port to the engine process */
  stream: 'concertina:stream',
} as const;
