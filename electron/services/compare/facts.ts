/** What a figure hangs on besides the settings: the machine, and the build that ran. */
import type { CompareRun } from '../../contract/compare';
import type { Capabilities } from '../../contract/engine';
import type { SystemFacts } from '../machine/diagnostics';

export function machineOf(system: SystemFacts, capabilities: Capabilities): NonNullable<CompareRun['machine']> {
  const { physicalCores, backend, device, gpus } = capabilities;
  const { os, arch, cpu, memoryBytes } = system;
  return { os: `${os}, ${arch}`, cpu, physicalCores, memoryBytes, backend, device, gpus: gpus.map(({ name }) => name) };
}

export function buildOf(version: string, capabilities: Capabilities): NonNullable<CompareRun['build']> {
  const { upstream, simd, simdWeights, kernelVariant } = capabilities;
  return { version, upstream, simd, simdWeights, kernelVariant };
}
