import type { AnswerStats } from '../../../electron/contract/chats';
import type { StreamFrame } from '../../../electron/contract/engine';
import type { Tools } from '../slice';
import { addFrame, beginAnswer, endAnswer, forgetTexts, resumeAnswer } from '../stream/frames';
import type { LiveAnswer } from '../stream/state';
import type { createMeterActions } from './live';

export function createStreamActions({ get, patch }: Tools, meter: ReturnType<typeof createMeterActions>) {
  return {
    begin(ids: Pick<LiveAnswer, 'requestId' | 'chatId' | 'messageId'>): void {
      patch('stream', beginAnswer(get().stream, ids));
    },
    resume(answer: Parameters<typeof resumeAnswer>[1]): void {
      patch('stream', resumeAnswer(get().stream, answer));
    },
    frame(frame: StreamFrame): void {
      const before = get().stream;
      const after = addFrame(before, frame);
      if (after === before) return;
      patch('stream', after);
      meter.frame(frame.messageId, frame.stats);
    },
    end(messageId: string, stats: AnswerStats | null): void {
      patch('stream', endAnswer(get().stream, messageId, stats));
      meter.end(messageId, stats);
    },
    forgetTexts(): void {
      patch('stream', forgetTexts(get().stream));
    },
  };
}
