import { selectSparkline } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { sparklinePoints } from './sparklinePoints';

const width = 56;
const height = 14;

/** Tokens per second over the answer, as one line from zero. */
export function SparklineBar() {
  const { values } = useApp(selectSparkline);
  const points = sparklinePoints(values, width, height);
  return (
    <svg
      data-testid="meter-sparkline"
      data-values={values.length}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      className="max-md:hidden"
    >
      <path d={`M0 ${height - 0.5}H${width}`} className="stroke-line-strong" />
      {points !== '' && (
        <>
          <polygon points={`0,${height} ${points} ${width},${height}`} className="fill-accent/20" />
          <polyline points={points} fill="none" strokeWidth={1.25} strokeLinejoin="round" className="stroke-accent" />
        </>
      )}
    </svg>
  );
}
