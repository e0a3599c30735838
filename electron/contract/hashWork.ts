/** What goes to the worker thread that computes hashes. */
export interface HashTask {
  paths: string[];
  /** the first and the last megabyte of each only */
  sample: boolean;
}
