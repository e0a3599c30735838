export function amalgamate(
  file: string,
  options: { folders: string[]; lines?: boolean },
): { text: string; files: string[] };
