/** Points of an SVG polyline from the left edge to the right one; the largest value reaches the top. Empty without values. */
export function sparklinePoints(values: readonly number[], width: number, height: number): string {
  const largest = Math.max(0, ...values);
  if (largest === 0) return '';
  // one value is a level line
  const drawn = values.length === 1 ? [...values, ...values] : values;
  const step = width / (drawn.length - 1);
  const y = (value: number) => height - 1 - (value / largest) * (height - 2);
  return drawn.map((value, i) => `${round(i * step)},${round(y(value))}`).join(' ');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
