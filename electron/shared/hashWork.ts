/** What goes to the worker thread that computes hashes, and what comes back. */
export interface HashTask {
  id: number;
  paths: string[];
  /** the first and the last megabyte of each only */
  sample: boolean;
}

export type FromHashWorker = { id: number } & ({ sha256: string } | { problem: string });
