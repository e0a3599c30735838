/**
 * Passages that left the prompt. They were looked up for one question. When a later one needs the room they go, the oldest
 * questions first, and do not come back: so the prompt of each answer begins as that of the answer before it, and the KV cache
 * is used again. The words of the questions and of their answers stay.
 */
import type { Message } from './chats';

type Held = Pick<Message, 'role' | 'attachments' | 'summary'>;

/** A question whose passages stand in the prompt until they are released. What was read part by part never stood there. */
export function holdsPassages({ role, attachments, summary }: Held): boolean {
  return role === 'user' && !summary && attachments.some(({ part }) => part.kind === 'passages');
}

/** Of how many questions of a branch the passages are released: the oldest ones that had some. */
export function releasedOf(branch: readonly Pick<Message, 'released'>[]): number {
  return branch.reduce((most, { released = 0 }) => Math.max(most, released), 0);
}

/** The branch as it stands in the prompt when `count` questions have released their passages; other documents stay. */
export function withoutReleased<M extends Held>(branch: readonly M[], count: number): M[] {
  let left = count;
  return branch.map((message) => {
    if (left === 0 || !holdsPassages(message)) return message;
    left -= 1;
    return { ...message, attachments: message.attachments.filter(({ part }) => part.kind !== 'passages') };
  });
}

/**
 * What a branch shows of it, message by message. Of a question 1: its passages are released. Of an answer: of how many
 * questions they were released for it.
 */
export function releasedAlong(branch: readonly (Held & Pick<Message, 'released'>)[]): number[] {
  const all = releasedOf(branch);
  let questions = 0;
  let before = 0;
  return branch.map((message) => {
    if (holdsPassages(message)) {
      questions += 1;
      return questions <= all ? 1 : 0;
    }
    const fresh = Math.max(0, (message.released ?? 0) - before);
    before += fresh;
    return fresh;
  });
}
