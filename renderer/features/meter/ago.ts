/** Seconds before now (0 or negative), as on the axis of a plot: "now", "−30 s", "−2 min", "−1:30". */
export function formatAgo(seconds: number): string {
  const whole = Math.round(-seconds);
  if (whole <= 0) return 'now';
  if (whole < 60) return `−${whole} s`;
  const rest = whole % 60;
  const minutes = Math.floor(whole / 60);
  return rest === 0 ? `−${minutes} min` : `−${minutes}:${String(rest).padStart(2, '0')}`;
}
