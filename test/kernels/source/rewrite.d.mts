export function rewrite(
  text: string,
  options: { mode: 'check' | 'exec'; keep?: RegExp },
): { text: string; kernels: string[] };
