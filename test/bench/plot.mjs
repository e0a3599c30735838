// Charts as SVG text, for the reports of `npm run quality` and `npm run bench`: lines or points over linear or log axes.
// A chart paints its own ground and follows the reader's light or dark scheme. Lines are named at their right end, points
// beside them; names move apart where they would touch, and what finds no room is left to the legend.

/** After Okabe and Ito's colors, which most color-blind readers tell apart, at a lightness that both grounds bear. */
export const COLORS = ['#d55e00', '#1a80c4', '#009e73', '#b8609a', '#a07d00', '#3a9bd1', '#7a7f87'];

const STYLE = `text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#24292f}.title{font-size:14px;font-weight:600}.dim{fill:#59636e}.ground{fill:#fff}.grid{stroke:#d8dee4}.axis{stroke:#8c959f}.ring{stroke:#fff}text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b1}.ground{fill:#0d1117}.grid{stroke:#30363d}.axis{stroke:#656d76}.ring{stroke:#0d1117}text{stroke:#0d1117}}`;
const MARGIN = { top: 46, right: 18, bottom: 46, left: 62 };
const LINE = 14;

/**
 * @typedef {{x: number, y: number, low?: number, high?: number, label?: string}} Point low, high: ends of an error bar
 * @typedef {{name: string, points: Point[], color?: string, line?: boolean, marks?: boolean, dashed?: boolean, hollow?: boolean, legend?: boolean}} Series
 *   line: join the points, default true; marks: a dot on each, default true; legend: name it above the plot even so
 * @typedef {{label: string, kind?: 'linear' | 'log', domain?: [number, number], ticks?: number[], format?: (value: number) => string}} Axis
 * @typedef {{title: string, note?: string, x: Axis, y: Axis, series: Series[], rules?: {y: number, label: string}[], width?: number, height?: number}} Chart
 *   note: a line under the title; rules: horizontal lines at a value that matters
 */

/** @param {Chart} chart @returns {string} an SVG document */
export function plot(chart) {
  return plotAll([chart]);
}

/**
 * Charts side by side, in rows.
 * @param {Chart[]} charts
 * @param {number} [columns] default: all in one row
 * @returns {string} an SVG document
 */
export function plotAll(charts, columns = charts.length) {
  const sizes = charts.map(({ width = 640, height = 400 }) => ({ width, height }));
  const [width, height] = [Math.max(...sizes.map((s) => s.width)), Math.max(...sizes.map((s) => s.height))];
  const full = [width * columns, height * Math.ceil(charts.length / columns)];
  const cells = charts.map((chart, i) => {
    const place = `translate(${(i % columns) * width} ${Math.floor(i / columns) * height})`;
    return `<g transform="${place}">${drawChart({ ...chart, ...sizes[i] })}</g>`;
  });
  const names = escapeXml(charts.map(({ title }) => title).join('; '));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${full.join(' ')}" width="${full[0]}" height="${full[1]}" role="img" aria-label="${names}">
<style>${STYLE}</style>
<rect class="ground" width="${full[0]}" height="${full[1]}" rx="6"/>
${cells.join('\n')}
</svg>
`;
}

function drawChart({ title, note, x, y, series, rules = [], width, height }) {
  const colored = series.map((one, i) => ({ ...one, color: one.color ?? COLORS[i % COLORS.length] }));
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) throw new Error(`The chart "${title}" has no points`);
  const named = [...rules.map(asSeries), ...colored.filter(namedAtEnd)];
  const ends = Math.max(0, ...named.map(({ name }) => widthOf(name) + 12));
  const box = {
    left: MARGIN.left,
    right: width - MARGIN.right - ends,
    top: MARGIN.top + LINE,
    bottom: height - MARGIN.bottom,
  };
  const heights = [...points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]), ...rules.map((rule) => rule.y)];
  const scales = {
    x: makeScale(
      x,
      points.map((p) => p.x),
      [box.left + 10, box.right - 10],
    ),
    y: makeScale(y, heights, [box.bottom, box.top]),
  };
  const taken = points.map((p) => square(scales.x.at(p.x), scales.y.at(p.y), 5));
  return [
    text(MARGIN.left, 22, title, 'class="title"'),
    note ? text(MARGIN.left, 38, note, 'class="dim"') : '',
    axes(x, y, scales, box, height),
    ...rules.map((rule) => drawRule(rule, scales, box)),
    ...colored.map((one) => drawSeries(one, scales)),
    ...pointLabels(colored, scales, box, taken),
    ...endLabels(named, scales, box),
    legend(
      colored.filter((one) => one.legend || (!namedAtEnd(one) && !one.points.some((p) => p.label))),
      box,
    ),
  ].join('');
}

const asSeries = ({ y, label }) => ({ name: label, color: COLORS.at(-1), points: [{ y }] });
const namedAtEnd = (one) => one.line !== false && !one.legend;
const escapeXml = (value) => String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const text = (x, y, value, rest = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${rest}>${escapeXml(value)}</text>`;
const widthOf = (value) => 6.6 * value.length;
const square = (x, y, half) => ({ left: x - half, right: x + half, top: y - half, bottom: y + half });
const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const plain = (value) => String(Number(value.toPrecision(6)));

function axes(x, y, scales, { left, right, top, bottom }, height) {
  const across = scales.x.ticks.map((tick) => {
    const at = scales.x.at(tick).toFixed(1);
    const mark = `<path class="axis" d="M${at} ${bottom}v5"/>`;
    return mark + text(Number(at), bottom + 19, (x.format ?? plain)(tick), 'text-anchor="middle" class="dim"');
  });
  const up = scales.y.ticks.map((tick) => {
    const at = scales.y.at(tick);
    const line = `<path class="grid" d="M${left} ${at.toFixed(1)}H${right.toFixed(1)}"/>`;
    return line + text(left - 8, at + 4, (y.format ?? plain)(tick), 'text-anchor="end" class="dim"');
  });
  const middle = (top + bottom) / 2;
  return [
    ...up,
    ...across,
    `<path class="axis" d="M${left} ${bottom}H${right.toFixed(1)}"/>`,
    text((left + right) / 2, height - 8, x.label, 'text-anchor="middle"'),
    text(14, middle, y.label, `text-anchor="middle" transform="rotate(-90 14 ${middle})"`),
  ].join('');
}

function drawRule({ y }, scales, { left, right }) {
  const at = scales.y.at(y).toFixed(1);
  return `<path class="axis" stroke-dasharray="5 4" d="M${left} ${at}H${right.toFixed(1)}"/>`;
}

function drawSeries({ points, color, line, marks, dashed, hollow }, scales) {
  const at = points.map((p) => `${scales.x.at(p.x).toFixed(1)} ${scales.y.at(p.y).toFixed(1)}`);
  const dash = dashed ? ' stroke-dasharray="4 4"' : '';
  const path =
    line === false ? '' : `<path fill="none" stroke="${color}" stroke-width="2"${dash} d="M${at.join('L')}"/>`;
  const bars = points
    .filter((p) => p.low !== undefined && p.high !== undefined)
    .map((p) => `M${scales.x.at(p.x).toFixed(1)} ${scales.y.at(p.low).toFixed(1)}V${scales.y.at(p.high).toFixed(1)}`);
  const bar = bars.length ? `<path stroke="${color}" stroke-width="1.5" opacity=".6" d="${bars.join('')}"/>` : '';
  const skin = hollow ? `class="ground" stroke="${color}" stroke-width="2"` : `class="ring" fill="${color}"`;
  const dots =
    marks === false ? [] : at.map((p) => `<circle cx="${p.split(' ')[0]}" cy="${p.split(' ')[1]}" r="4" ${skin}/>`);
  return path + bar + dots.join('');
}

/** The first place around a point that touches nothing; without one the point stays unnamed. */
function pointLabels(series, scales, box, taken) {
  return series.flatMap(({ points, color }) =>
    points.map(({ x, y, label }) => {
      if (!label) return '';
      const [cx, cy, wide] = [scales.x.at(x), scales.y.at(y), widthOf(label)];
      const places = [
        [8, 0],
        [-8 - wide, 0],
        [-wide / 2, -14],
        [-wide / 2, 14],
        [7, -11],
        [7, 11],
        [-7 - wide, -11],
        [-7 - wide, 11],
      ];
      const areas = places.map(([dx, dy]) => ({
        left: cx + dx,
        right: cx + dx + wide,
        top: cy + dy - 6,
        bottom: cy + dy + 6,
      }));
      const free = areas.find(
        (a) => a.left > box.left && a.right < box.right + 14 && !taken.some((other) => touch(a, other)),
      );
      if (!free) return '';
      taken.push(free);
      return text(free.left, free.bottom - 2, label, `style="fill:${color}"`);
    }),
  );
}

/** Names of lines at their last points, pushed down where they would touch. */
function endLabels(series, scales, box) {
  const ends = series.map(({ name, color, points }) => ({ name, color, y: scales.y.at(points.at(-1).y) }));
  ends.sort((a, b) => a.y - b.y);
  for (const [i, end] of ends.entries()) if (i > 0) end.y = Math.max(end.y, ends[i - 1].y + LINE);
  const over = Math.max(0, (ends.at(-1)?.y ?? 0) - box.bottom);
  return ends.map(({ name, color, y }) => text(box.right + 4, y - over + 4, name, `style="fill:${color}"`));
}

function legend(series, { left, top }) {
  let x = left;
  return series
    .map(({ name, color, hollow }) => {
      const skin = hollow ? `class="ground" stroke="${color}" stroke-width="2"` : `fill="${color}"`;
      const entry = `<circle cx="${x + 5}" cy="${top - 12}" r="4" ${skin}/>${text(x + 14, top - 8, name)}`;
      x += widthOf(name) + 30;
      return entry;
    })
    .join('');
}

// Axes: where a value lies, and which values get a tick.

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
