/** The operations of `electron/contract/compare.ts`. */
import type { compareOperations } from '../../contract/compare';
import type { HandlersOf } from '../../contract/operation';
import type { CompareService } from './compareService';
import { exportRun } from './export';

export function createCompareHandlers(compare: CompareService): HandlersOf<typeof compareOperations> {
  return {
    'compare.start': (request) => compare.start(request),
    'compare.cancel': ({ runId }) => compare.cancel(runId),
    'compare.list': async () => compare.list(),
    'compare.get': ({ runId }) => compare.get(runId),
    'compare.rename': ({ runId, name }) => compare.rename(runId, name),
    'compare.remove': ({ runId }) => compare.remove(runId),
    'compare.rerun': ({ runId }) => compare.rerun(runId),
    'compare.export': async ({ runId, format }) => exportRun(await compare.get(runId), format),
    'compare.estimate': ({ modelId, configurations }) => compare.estimate(modelId, configurations),
    'compare.count': async ({ modelId, prompt }) => ({ tokens: await compare.count(modelId, prompt) }),
  };
}
