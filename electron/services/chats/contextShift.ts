/**
 * What leaves a prompt that is too long for the context. First, always, passages of earlier questions (`withoutReleased`).
 * Then, by the policy `roll`, the oldest turns: the system prompt and the turns with other documents stay, so that the
 * beginning of the prompt, and the cache of it, stay too.
 */

import { type Message, releasedOf, turnsWithPassages, withoutReleased } from '../../contract/chats';

/** What of a message decides whether it can be left out. */
export type RollSource = Pick<Message, 'role' | 'attachments' | 'leftOut' | 'released' | 'rounds' | 'summary'> & {
  /** it stands in place of so many messages */
  stands?: number;
};

interface Rolled<M> {
  branch: M[];
  /** how many messages it goes without: the oldest ones that are not kept */
  leftOut: number;
}

export interface Fitted<M> extends Rolled<M> {
  /** of so many questions the passages are out */
  released: number;
  /** tokens of the prompt */
  total: number;
  /** false: all that may leave has left, and `total` is still more than the room */
  fits: boolean;
  /** so many messages at the beginning stand in it as they did for the answer before: what is behind them is read again */
  kept: number;
}

export interface Room {
  /** tokens that the prompt may have */
  tokens: number;
  /** the policy `roll` */
  rolls: boolean;
}

/** Of the room that the kept beginning leaves, so much is made free when turns have to go: the next ones need nothing. */
const margin = 1 / 4;

/**
 * Lets go of as little as makes the prompt fit. What earlier answers went without stays out.
 * @param branch ends in the question; its own passages stay
 * @param count tokens of the prompt that a branch makes
 * @param before what this answer went without so far, when it is continued
 */
export async function fitBranch<M extends RollSource>(
  branch: readonly M[],
  count: (branch: M[]) => Promise<number>,
  room: Room,
  before: Pick<Message, 'leftOut' | 'released'> = {},
): Promise<Fitted<M>> {
  const bare = withoutReleased(branch, branch.length);
  const turns = turnsWithPassages(branch);
  const most = Math.max(-1, ...turns.slice(0, -1)) + 1;
  const from = Math.min(most, releasedOf([...branch, before]));
  const gone = room.rolls ? goneOf(branch, before.leftOut) : 0;
  const released = (number: number): M[] =>
    branch.map((message, index) => ((turns[index] ?? -1) < number ? (bare[index] ?? message) : message));
  const at = (number: number) => new Rolling(released(number)).gone(gone);
  const sizeAt = (number: number) => count(at(number).branch);

  const known = at(from);
  const ended = (rolled: Rolled<M>, number: number, total: number): Fitted<M> => {
    const changed = rolled.branch.findIndex((message, index) => message !== known.branch[index]);
    const kept = changed === -1 ? rolled.branch.length : changed;
    return { ...rolled, released: number, total, fits: total <= room.tokens, kept };
  };

  const total = await count(known.branch);
  if (total <= room.tokens) return ended(known, from, total);
  const bareTotal = from < most ? await sizeAt(most) : total;
  if (bareTotal <= room.tokens) {
    const number = await fewest(from + 1, most, sizeAt, room.tokens);
    return ended(at(number), number, await sizeAt(number));
  }
  if (!room.rolls) return ended(at(most), most, bareTotal);
  const loose = new Rolling(released(most));
  const rolled = (await rollBranch(released(most), count, room.tokens, gone)) ?? loose.without(loose.size);
  return ended(rolled, most, await count(rolled.branch));
}

/**
 * Leaves out as many turns as the answers before did, so that the prompt begins as theirs did; more only when it has to.
 * @param before messages that this answer went without so far, when it is continued
 * @param room tokens that it may have
 * @returns null: it does not fit even without every turn that can go
 */
export async function rollBranch<M extends RollSource>(
  branch: readonly M[],
  count: (branch: M[]) => Promise<number>,
  room: number,
  before = 0,
): Promise<Rolled<M> | null> {
  const rolling = new Rolling(branch);
  const sizeOf = (number: number) => count(rolling.without(number).branch);
  const first = rolling.first(goneOf(branch, before));
  if ((await sizeOf(first)) <= room) return rolling.without(first);
  const least = await sizeOf(rolling.size);
  if (least > room) return null;
  const wanted = room - Math.floor((room - least) * margin);
  return rolling.without(await fewest(first + 1, rolling.size, sizeOf, wanted));
}

/** A branch by its turns: which of them can be left out. */
class Rolling<M extends RollSource> {
  private readonly turns: M[][];
  private readonly loose: M[][];
  private readonly length: number;

  constructor(branch: readonly M[]) {
    this.length = branch.length;
    this.turns = turnsOf(branch);
    this.loose = this.turns.slice(0, -1).filter((turn) => !isKept(turn));
  }

  /** turns that can go */
  get size(): number {
    return this.loose.length;
  }

  without(turns: number): Rolled<M> {
    const left = new Set(this.loose.slice(0, turns));
    const branch = this.turns.filter((turn) => !left.has(turn)).flat();
    return { branch, leftOut: this.length - branch.length };
  }

  /** The fewest turns that are at least so many messages. */
  first(messages: number): number {
    let first = 0;
    while (first < this.size && this.without(first).leftOut < messages) first++;
    return first;
  }

  gone(messages: number): Rolled<M> {
    return this.without(this.first(messages));
  }
}

/** Messages that earlier answers went without. */
function goneOf(branch: readonly RollSource[], before = 0): number {
  return branch.reduce((most, { leftOut = 0 }) => Math.max(most, leftOut), before);
}

/** The smallest number between `low` and `high` with which it fits; `high` does for certain, or is all there is. */
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
  return turn.some(({ attachments, stands }) => attachments.length > 0 || stands !== undefined);
}
