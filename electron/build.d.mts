/** What tests take from build.mjs. */
import type { BundledPackage } from './notices.mjs';

/** Sources of the bundles for Node, by the names of the bundles. */
export const ENTRIES: Record<string, string>;
/** Returns the packages that have modules in the bundle. */
export function bundleForNode(name: string, entry: string, outDir?: string): Promise<BundledPackage[]>;
export function bundleRenderer(options?: { outDir?: string; sourcemap?: boolean }): Promise<BundledPackage[]>;
