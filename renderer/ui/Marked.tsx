interface MarkedProps {
  text: string;
  /** from and to, in order and without overlaps */
  marks: readonly (readonly [number, number])[];
}

/** A text with places in it made visible. */
export function Marked({ text, marks }: MarkedProps) {
  const parts = marks.map(([start, end], index) => (
    <span key={start}>
      {text.slice(marks[index - 1]?.[1] ?? 0, start)}
      <mark className="rounded-sm bg-accent/25 text-ink">{text.slice(start, end)}</mark>
    </span>
  ));
  return (
    <>
      {parts}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}
