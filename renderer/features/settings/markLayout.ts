/** Puts the words of marks under a scale: close marks share one label, and labels that would touch go to rows of their own. */

export interface Placed<T> {
  marks: T[];
  /** 0..1 of the scale; of the first mark */
  share: number;
  text: string;
  /** 0 is next to the scale */
  row: number;
  /** pixels from the left end of the scale */
  left: number;
  width: number;
}

interface Place {
  share: number;
}

const gap = 8;
/** of one character at the size of the labels; a little too much, so that a wide font does not make them touch */
const characterPixels = 6;

/** `width`: of the scale in pixels; `name`: what marks at one place are called; marks nearer than `near` pixels are one. Rows of one label never overlap. */
export function placeMarks<T extends Place>(
  marks: readonly T[],
  width: number,
  name: (marks: T[]) => string,
  near = 10,
): Placed<T>[] {
  const rising = [...marks].sort((a, b) => a.share - b.share);
  const clusters: T[][] = [];
  for (const mark of rising) {
    const last = clusters.at(-1);
    if (last?.[0] && (mark.share - last[0].share) * width < near) last.push(mark);
    else clusters.push([mark]);
  }
  const ends: number[] = [];
  return clusters.map((cluster) => {
    const share = cluster[0]?.share ?? 0;
    const text = name(cluster);
    const wide = Math.min(width, text.length * characterPixels);
    const left = Math.min(width - wide, Math.max(0, share * width - wide / 2));
    const free = ends.findIndex((end) => end + gap <= left);
    const row = free === -1 ? ends.length : free;
    ends[row] = left + wide;
    return { marks: cluster, share, text, row, left, width: wide };
  });
}
