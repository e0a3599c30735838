/** Null: no address. What `URL.parse` does, which Node 20 does not have. */
export function urlOrNull(address: string, base?: URL): URL | null {
  try {
    return new URL(address, base);
  } catch {
    return null;
  }
}
