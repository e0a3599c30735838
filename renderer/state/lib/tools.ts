/** What the window knows of MCP servers: their state, and what was asked last of the price of their tools. */
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ToolPrice, ToolState } from '../../../electron/contract/tools/operations';

export interface ToolsState {
  /** null until the services have told it */
  state: ToolState | null;
  open: boolean;
  /** of the tools that `key` stands for (`priceKey`); null: nothing was asked */
  price: { key: string; value: ToolPrice | null; error: ErrorPayload | null } | null;
}

export const initialTools: ToolsState = { state: null, open: false, price: null };
