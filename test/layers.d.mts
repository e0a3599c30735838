export function checkFile(file: string, source: string): string[];
