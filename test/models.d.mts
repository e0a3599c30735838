export const smallModel: string;
export const tinyModel: string;
export function modelFile(name: string): string;
