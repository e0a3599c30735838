import type { AnswerStats } from '../../../electron/shared/chats';
import type { StreamFrame } from '../../../electron/shared/engine';
import type { Tools } from '../tools';
import { addFrame, beginAnswer, endAnswer, forgetTexts } from './frames';
import type { LiveAnswer } from './state';

export function createStreamActions({ get, patch }: Tools) {
  return {
    begin(ids: Pick<LiveAnswer, 'requestId' | 'chatId' | 'messageId'>): void {
      patch('stream', beginAnswer(get().stream, ids));
    },
    frame(frame: StreamFrame): void {
      patch('stream', addFrame(get().stream, frame));
    },
    end(messageId: string, stats: AnswerStats | null): void {
      patch('stream', endAnswer(get().stream, messageId, stats));
    },
    forgetTexts(): void {
      patch('stream', forgetTexts(get().stream));
    },
  };
}
