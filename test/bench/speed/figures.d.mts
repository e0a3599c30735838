/** What the measuring program prints: the name of the event and the fields of its kind. */
export type Event = { event: string } & Record<string, string | number | boolean>;

export interface Ratio {
  median: number;
  p10: number;
  p90: number;
  rounds: number;
}

export interface Cell {
  rounds: number;
  tokensPerSecond: number;
  vsStockQ8_0: Ratio | null;
  vsSameKernelQ8_0: Ratio | null;
  vsStockF16: Ratio | null;
  bytesPerToken?: number;
  bytesPerSecond?: number;
  ofBandwidth?: number;
}

/** By variant, then by depth in tokens. */
export type Part = Record<string, Record<string, Cell>>;

export interface Figures {
  vsStockQ8_0: Record<string, Record<string, number>>;
  vsSameKernelQ8_0: Record<string, Record<string, number>>;
  model: Record<string, string | number>;
  bandwidth: Record<string, number>;
  variants: Record<string, Record<string, string | number | boolean>>;
  leftOut: string[];
  decode?: Part;
  prefill?: Part;
  attentionDecode?: Part;
  attentionPrefill?: Part;
  prompt?: Part;
}

export function quantile(values: number[], q: number): number;
export function median(values: number[]): number;
export function ratioOf(samples: Map<number, number>, reference: Map<number, number> | undefined): Ratio | null;
export function figuresOf(events: Event[]): Figures;
