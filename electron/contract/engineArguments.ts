/** The command line of the engine's program: what it must know before the first call. Written by its parent, read by its entry. */
const selfTest = '--self-test-folder=';
const inspector = '--inspector';

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found */
export function engineArguments(selfTestFolder: string): string[] {
  return [`${selfTest}${selfTestFolder}`];
}

/** Of the process that looks at model files. */
export function inspectorArguments(selfTestFolder: string): string[] {
  return [...engineArguments(selfTestFolder), inspector];
}

/** '': nowhere */
export function selfTestFolder(argv: readonly string[]): string {
  return argv.find((argument) => argument.startsWith(selfTest))?.slice(selfTest.length) ?? '';
}

export function isInspector(argv: readonly string[]): boolean {
  return argv.includes(inspector);
}
