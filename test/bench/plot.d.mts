import type { AxisOptions } from './scale.mjs';

export interface Point {
  x: number;
  y: number;
  low?: number;
  high?: number;
  label?: string;
}
export interface Series {
  name: string;
  points: Point[];
  colour?: string;
  line?: boolean;
  marks?: boolean;
  dashed?: boolean;
  hollow?: boolean;
  legend?: boolean;
}
export interface Axis extends AxisOptions {
  label: string;
  format?: (value: number) => string;
}
export interface Chart {
  title: string;
  note?: string;
  x: Axis;
  y: Axis;
  series: Series[];
  rules?: { y: number; label: string }[];
  width?: number;
  height?: number;
}
export const COLOURS: string[];
export function plot(chart: Chart): string;
export function plotAll(charts: Chart[], columns?: number): string;
