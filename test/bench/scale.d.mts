export interface AxisOptions {
  kind?: 'linear' | 'log';
  domain?: [number, number];
  ticks?: number[];
}
export interface Scale {
  at: (value: number) => number;
  ticks: number[];
}
export function makeScale(axis: AxisOptions, values: number[], range: [number, number]): Scale;
