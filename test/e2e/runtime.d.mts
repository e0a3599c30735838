export const RUNTIME: string;
export function ensureTestRuntime(options?: {
  onProgress?: (progress: { detail: string }) => void;
}): Promise<{ executablePath: string; args: string[] }>;
