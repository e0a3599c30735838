/**
 * The policy `roll`: an answer whose prompt is too long for the context goes without the oldest turns. The system prompt and
 * the turns with documents stay, so that the beginning of the prompt, and the cache of it, stay too.
 */
import type { Message } from '../../shared/chats';

/** What of a message decides whether it can be left out. */
export type RollSource = Pick<Message, 'role' | 'attachments' | 'leftOut'>;

export interface Rolled<M> {
  branch: M[];
  /** how many messages it goes without: the oldest ones that are not kept */
  leftOut: number;
}

/** Of the room that the kept beginning leaves, so much is made free when something has to go: the next turns need nothing. */
const margin = 1 / 4;

/**
 * Leaves out as many turns as the answers before did, so that the prompt begins as theirs did; more only when it has to.
 * @param before messages that this answer went without so far, when it is continued
 * @param count tokens of the prompt that a branch makes
 * @param room tokens that it may have
 * @returns null: it does not fit even without every turn that can go
 */
export async function rollBranch<M extends RollSource>(
  branch: readonly M[],
  count: (branch: M[]) => Promise<number>,
  room: number,
  before = 0,
): Promise<Rolled<M> | null> {
  const turns = turnsOf(branch);
  const loose = turns.slice(0, -1).filter((turn) => !isKept(turn));
  const gone = Math.max(before, ...branch.map(({ leftOut }) => leftOut ?? 0));
  const without = (number: number): Rolled<M> => {
    const left = new Set(loose.slice(0, number));
    const kept = turns.filter((turn) => !left.has(turn)).flat();
    return { branch: kept, leftOut: branch.length - kept.length };
  };
  const sizeOf = (number: number) => count(without(number).branch);

  let first = 0;
  while (first < loose.length && without(first).leftOut < gone) first++;
  if ((await sizeOf(first)) <= room) return without(first);
  const least = await sizeOf(loose.length);
  if (least > room) return null;
  return without(await fewest(first + 1, loose.length, sizeOf, room - Math.floor((room - least) * margin)));
}

/** The smallest number of turns between `low` and `high` whose loss makes it fit; `high` does for certain, or is all there is. */
async function fewest(low: number, high: number, sizeOf: (number: number) => Promise<number>, room: number) {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if ((await sizeOf(middle)) <= room) to = middle;
    else from = middle + 1;
  }
  return to;
}

/** A question and what follows it, up to the next question: templates want the roles in turn. */
function turnsOf<M extends RollSource>(branch: readonly M[]): M[][] {
  const turns: M[][] = [];
  for (const message of branch) {
    const last = turns.at(-1);
    if (message.role === 'user' || !last) turns.push([message]);
    else last.push(message);
  }
  return turns;
}

function isKept(turn: readonly RollSource[]): boolean {
  return turn.some(({ attachments }) => attachments.length > 0);
}
