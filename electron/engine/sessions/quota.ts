/** Room for a session: within what the person allows, and never the last of the disk. */
import { statfs } from 'node:fs/promises';
import type { SessionMeta } from './format';

const reserveBytes = 2 * 1024 ** 3;
const reserveShare = 0.05;

/** Bytes of the disk that sessions may take, less what must stay free: 2 GiB or 5 %, whichever is more. */
export type DiskRoom = (folder: string) => Promise<number>;

export const diskRoom: DiskRoom = async (folder) => {
  const { bavail, bsize, blocks } = await statfs(folder);
  return bavail * bsize - Math.max(reserveBytes, blocks * bsize * reserveShare);
};

/**
 * Sessions to remove, those that were used longest ago first, so that `needed` bytes find room. null: there is none, even
 * with all of them gone. `room`: of the disk, as it is now.
 */
export function evictionsFor(
  sessions: readonly SessionMeta[],
  needed: number,
  maxBytes: number,
  room: number,
): SessionMeta[] | null {
  let total = sessions.reduce((sum, { bytes }) => sum + bytes, 0);
  let free = room;
  const enough = () => total + needed <= maxBytes && (needed === 0 || free >= needed);
  const removed: SessionMeta[] = [];
  for (const session of [...sessions].sort((a, b) => a.lastUsed - b.lastUsed)) {
    if (enough()) return removed;
    removed.push(session);
    total -= session.bytes;
    free += session.bytes;
  }
  return enough() ? removed : null;
}
