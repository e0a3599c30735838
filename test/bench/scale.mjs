// Axes of a chart: where a value lies, and which values get a tick. Used by plot.mjs.

/**
 * @param {object} axis
 * @param {'linear' | 'log'} [axis.kind]
 * @param {[number, number]} [axis.domain] default: the values, widened to the next ticks
 * @param {number[]} [axis.ticks] default: round numbers, about five
 * @param {number[]} values what must fit in; for log all above zero
 * @param {[number, number]} range pixels of the domain's ends
 * @returns {{at: (value: number) => number, ticks: number[]}}
 * @throws {Error} when a value is not finite, or not above zero on a log axis
 */
export function makeScale({ kind = 'linear', domain, ticks }, values, [start, end]) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (![least, most].every(Number.isFinite)) throw new Error('An axis needs finite values');
  const log = kind === 'log';
  if (log && (domain?.[0] ?? least) <= 0) throw new Error('A log axis holds values above zero only');
  const [low, high] = domain ?? (log ? logDomain(least, most) : linearDomain(least, most));
  const warp = log ? Math.log : (value) => value;
  const unit = (end - start) / (warp(high) - warp(low));
  const round = log ? logTicks(low, high) : linearTicks(low, high);
  return {
    at: (value) => start + (warp(value) - warp(low)) * unit,
    ticks: (ticks ?? round).filter((tick) => tick >= low * (1 - 1e-9) - 1e-12 && tick <= high * (1 + 1e-9) + 1e-12),
  };
}

/** 1, 2 or 5 times a power of ten, so that the span has about five steps */
function stepOf(span) {
  const power = 10 ** Math.floor(Math.log10(span / 5));
  return power * (span / 5 / power < 1.5 ? 1 : span / 5 / power < 3.5 ? 2 : span / 5 / power < 7.5 ? 5 : 10);
}

function linearDomain(least, most) {
  if (least === most) return [least - 1, most + 1];
  const step = stepOf(most - least);
  return [Math.floor(least / step) * step, Math.ceil(most / step) * step];
}

function linearTicks(low, high) {
  const step = stepOf(high - low);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

function logDomain(least, most) {
  return [least / 1.25, most * 1.25];
}

/** 1, 2, 5 of every decade; over a long span the powers of ten alone */
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const factors = decades > 4 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) found.push(Number((factor * 10 ** power).toPrecision(6)));
  }
  return found;
}
