import { describe, expect, it } from 'vitest';
import { ChunkStream } from '@/electron/engine/native/context';

async function readAll(stream: ChunkStream<number>): Promise<number[]> {
  const read: number[] = [];
  for await (const chunk of stream.read()) read.push(chunk);
  return read;
}

describe('ChunkStream', () => {
  it('gives what was pushed before and while reading, in order', async () => {
    const stream = new ChunkStream<number>();
    stream.push([1, 2]);
    const reader = stream.read();
    expect([await reader.next(), await reader.next()].map(({ value }) => value)).toEqual([1, 2]);
    const waiting = reader.next();
    // it has come to where it waits: nothing but promises lies before that
    await new Promise((resolve) => setImmediate(resolve));
    stream.push([3]);
    expect((await waiting).value).toBe(3);
    stream.push([4, 5]);
    stream.end();
    expect([(await reader.next()).value, (await reader.next()).value]).toEqual([4, 5]);
    expect((await reader.next()).done).toBe(true);
  });

  it('ends without chunks', async () => {
    const stream = new ChunkStream<number>();
    const reading = readAll(stream);
    stream.end();
    expect(await reading).toEqual([]);
  });

  it('takes large batches', async () => {
    const stream = new ChunkStream<number>();
    stream.push(Array.from({ length: 300_000 }, (_, i) => i));
    stream.end();
    expect((await readAll(stream)).length).toBe(300_000);
  });
});
