export interface Folders {
  source: string;
  build: string;
}

export function forgetMovedBuild(folders: Folders, onNote: (message: string) => void): void;
export function isOfOtherFolders(cache: string, folders: Folders): boolean;
