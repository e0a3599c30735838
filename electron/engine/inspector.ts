/** The process that looks at model files behind its contract: headers and dry runs, and no model is ever loaded. */

import type { InspectorHandlers } from '../contract/inspectorContract';
import { withCodedErrors } from './hints';
import type { Engine } from './native/types';
import { MemoryPlanner } from './planner';

export function createInspectorHandlers(engine: () => Engine): InspectorHandlers {
  const planner = new MemoryPlanner(engine, () => []);
  return withCodedErrors<InspectorHandlers>({
    inspect: async ({ path }) => engine().inspect(path),
    estimate: ({ path, context }) => planner.estimate(path, context),
    fit: ({ machine, ...question }) => planner.fit(question, machine),
    planComparison: ({ path, settings, configurations, machine }) =>
      planner.comparison(
        path,
        configurations.map((one) => ({ ...settings, ...one })),
        machine,
      ),
  });
}
