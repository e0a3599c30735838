export const NOTICES_FILE: string;
/** A package of a bundle, as Vite's `build.license` lists it. */
export interface BundledPackage {
  name: string;
  version: string;
  identifier?: string;
  text?: string;
}
export function sourceFiles(): string[];
export function thirdPartyNotices(packages: BundledPackage[]): string;
