export function buildDist(options?: {
  dirOnly?: boolean;
  output?: string;
}): Promise<{ folder: string; runtime: string }>;
