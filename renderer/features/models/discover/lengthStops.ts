/** Context lengths of the slider: two in each doubling, up to what the model was trained for. */
const shortest = 2048;

/** Rising; `longest` itself is the last one. */
export function lengthStops(longest: number): number[] {
  const stops: number[] = [];
  for (let base = shortest; base < longest; base *= 2) {
    for (const stop of [base, base * 1.5]) if (stop < longest) stops.push(stop);
  }
  return [...stops, longest];
}

/** Index of the stop that a length is nearest to, by ratio. */
export function nearestStop(stops: readonly number[], tokens: number): number {
  const distances = stops.map((stop) => Math.abs(Math.log(stop / Math.max(1, tokens))));
  return distances.indexOf(Math.min(...distances));
}
