/** The model that was in use when another one was asked for: it goes on being used where that one cannot be had. */
import type { EngineStatus } from '../../contract/engine';
import type { ContextSettings } from '../../contract/settings';
import type { EngineWork } from './engineHost';

export interface Former {
  status: Pick<EngineStatus, 'model' | 'context' | 'memory' | 'contextUsed'> & { modelId: string };
  askedContext: ContextSettings | null;
  work: EngineWork | null;
}

export class FormerModel {
  private former: Former | null = null;

  /** Before another one is loaded. While nothing is in use, as where one load overtakes another, the one kept stays. */
  keep(inUse: EngineStatus, askedContext: ContextSettings | null, work: EngineWork | null): void {
    const { modelId, model, context, memory, contextUsed } = inUse;
    if (modelId === null || model === null) return;
    this.former = { status: { modelId, model, context, memory, contextUsed }, askedContext, work };
  }

  forget(): void {
    this.former = null;
  }

  /** null: none was in use */
  get kept(): Former | null {
    return this.former;
  }

  /** the one to go back to where this model cannot be had; null: there is no other */
  otherThan(modelId: string | null): Former | null {
    return modelId !== null && this.former?.status.modelId !== modelId ? this.former : null;
  }
}
