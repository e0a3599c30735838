/**
 * The token of headless mode arrives in the URL once. It leaves the address bar at once (history, shoulder surfing)
 * and stays for this tab only, so that a reload still connects.
 */
const storageKey = 'concertina.token';

export interface TokenPlaces {
  href: string;
  replaceUrl(url: string): void;
  storage: Pick<Storage, 'getItem' | 'setItem'>;
}

/** Anything else cannot be offered as a subprotocol, and is no token of ours. */
const shape = /^[\w-]+$/;

/** @returns null: neither the address nor the tab has one */
export function takeToken(places: TokenPlaces): string | null {
  const url = new URL(places.href);
  const fromUrl = url.searchParams.get('token');
  if (fromUrl === null) return usable(places.storage.getItem(storageKey));
  places.storage.setItem(storageKey, fromUrl);
  url.searchParams.delete('token');
  places.replaceUrl(url.pathname + url.search + url.hash);
  return usable(fromUrl);
}

function usable(token: string | null): string | null {
  return token !== null && shape.test(token) ? token : null;
}

/** The address of the socket on the page's own host. */
export function socketUrl(href: string): string {
  const url = new URL('/ws', href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
