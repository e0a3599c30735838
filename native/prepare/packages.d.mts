export function ensurePackages(options: { onLine: (line: string) => void }): Promise<void>;
export function fetchPackage(options: { spec: string; integrity: string; what: string }): Promise<string>;
export function checkIntegrity(tarball: string, integrity: string): Promise<void>;
