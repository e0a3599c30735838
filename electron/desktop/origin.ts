/** Where the pages of the app live. A scheme of our own has none of the rights that file:// has. */
export const appScheme = 'app';
export const appOrigin = `${appScheme}://concertina`;
export const startUrl = `${appOrigin}/index.html`;

export function isAppUrl(url: string): boolean {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}` === appOrigin;
  } catch {
    return false;
  }
}
