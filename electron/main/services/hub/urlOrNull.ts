/** Null: no address. `URL.canParse` is missing in the oldest runtime that the app runs in (Node 18.15). */
export function urlOrNull(address: string, base?: URL): URL | null {
  try {
    return new URL(address, base);
  } catch {
    return null;
  }
}
