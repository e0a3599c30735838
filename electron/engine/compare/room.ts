/** Room for the contexts of a comparison: beside what is in memory, and in place of the chat's context where it must be. */

import type { ContextSettings } from '../../contract/settings';
import { refusal } from '../budgets';
import type { Loan } from '../modelHolder';
import type { MemoryPlanner } from '../planner';

export class Room {
  constructor(
    private readonly path: string,
    private readonly loan: Loan,
    private readonly planner: MemoryPlanner,
  ) {}

  /** true: contexts of these settings fit beside the ones that are alive, perhaps because the chat's context was freed */
  async make(contexts: ContextSettings[]): Promise<boolean> {
    if ((await this.planner.beside(this.path, contexts)).fits) return true;
    if (!(await this.loan.release())) return false;
    return (await this.planner.beside(this.path, contexts)).fits;
  }

  /** Throws `out-of-memory`, with the figures. */
  async require(contexts: ContextSettings[]): Promise<void> {
    if (await this.make(contexts)) return;
    const { needs, budgets } = await this.planner.beside(this.path, contexts);
    throw refusal(needs, budgets);
  }
}
