/** What tests take from build.mjs. */
export function bundleForNode(name: string, entry: string, outDir?: string): Promise<void>;
