/** Names of the carriers: channels between a window and the main process of Electron, subprotocols of headless mode's WebSocket. */
export const channels = {
  call: 'concertina:call',
  event: 'concertina:event',
  /** carries a message port to the engine process */
  stream: 'concertina:stream',
} as const;

/** What the server answers with; the key that comes beside it is never sent back. */
export const socketProtocol = 'concertina';

/**
 * What a page offers when it opens the WebSocket: the one header that it may choose. A cookie would go to every other server on
 * this machine as well, since cookies do not keep ports apart, and an address is written to logs and histories.
 * @param token letters, digits, `-` and `_`; null: the page has none, and the server refuses it
 */
export function socketProtocols(token: string | null): string[] {
  return token === null ? [socketProtocol] : [socketProtocol, `key.${token}`];
}
