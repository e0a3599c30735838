/** Bytes in sentences that are put together outside the window, which has finer ways (renderer/ui/format.ts). */

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** "512 MiB", "3.4 GiB" */
export function sizeText(bytes: number): string {
  return bytes < GiB ? `${Math.round(bytes / MiB)} MiB` : `${(bytes / GiB).toFixed(1)} GiB`;
}
