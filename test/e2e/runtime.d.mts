export const RUNTIME: string;
export const RUNTIME_VERSION: string;
export function ensureTestRuntime(options?: {
  onProgress?: (progress: { detail: string; fraction?: number }) => void;
}): Promise<{ executablePath: string; args: string[] }>;
