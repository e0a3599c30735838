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

export function takeToken(places: TokenPlaces): string | null {
  const url = new URL(places.href);
  const fromUrl = url.searchParams.get('token');
  if (fromUrl === null) return places.storage.getItem(storageKey);
  places.storage.setItem(storageKey, fromUrl);
  url.searchParams.delete('token');
  places.replaceUrl(url.pathname + url.search + url.hash);
  return fromUrl;
}

/** The address of the socket on the page's own host. Without a token the cookie of the first page load has to serve. */
export function socketUrl(href: string, token: string | null): string {
  const url = new URL('/ws', href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (token !== null) url.searchParams.set('token', token);
  return url.href;
}
