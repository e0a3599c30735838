/** The command line of the engine process: what it must know before the first call. Written by its parent, read by its entry. */
const selfTest = '--self-test-folder=';

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found */
export function engineArguments(selfTestFolder: string): string[] {
  return [`${selfTest}${selfTestFolder}`];
}

/** '': nowhere */
export function selfTestFolder(argv: readonly string[]): string {
  return argv.find((argument) => argument.startsWith(selfTest))?.slice(selfTest.length) ?? '';
}
