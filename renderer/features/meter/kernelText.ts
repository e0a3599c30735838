/** Which attention kernel runs at which depth of the context, and why. */
import type { KernelUse, LoadedContext } from '../../../electron/contract/engine';
import { formatContext } from '../../ui/format';

export interface KernelLine {
  name: string;
  text: string;
  why: string;
}

/** One line for each kernel; its depth only where the backend changes it with the depth. */
export function kernelLines({ kernels }: LoadedContext): KernelLine[] {
  const isOnly = ({ backend }: KernelUse) => kernels.filter((other) => other.backend === backend).length === 1;
  return kernels.map((use) => ({
    name: `${use.backend} attention${isOnly(use) ? '' : ` from ${formatContext(use.from)}`}`,
    text: use.name,
    why: use.why,
  }));
}
