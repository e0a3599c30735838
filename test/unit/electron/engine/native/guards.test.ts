import { describe, expect, it, vi } from 'vitest';
import { DisposeGuard } from '@/electron/engine/native/guards';

/** a job that ends when it is cancelled */
function job() {
  let finish = (): void => {};
  const done = new Promise<string>((resolve) => {
    finish = () => resolve('ended');
  });
  return { cancellation: { cancel: vi.fn(() => finish()) }, start: () => done };
}

describe('DisposeGuard', () => {
  it('frees once, after running work was stopped and children were disposed', async () => {
    const guard = new DisposeGuard('thing');
    const order: string[] = [];
    const { cancellation, start } = job();
    const running = guard.track(cancellation, start).then(() => order.push('work'));
    guard.adopt(async () => void order.push('child'));
    const free = vi.fn(async () => void order.push('free'));
    await Promise.all([guard.dispose(free), guard.dispose(free)]);
    await running;
    expect(cancellation.cancel).toHaveBeenCalledOnce();
    expect(free).toHaveBeenCalledOnce();
    expect(order).toEqual(['work', 'child', 'free']);
  });

  it('refuses use after dispose', async () => {
    const guard = new DisposeGuard('thing');
    guard.check();
    const disposal = guard.dispose(async () => {});
    expect(() => guard.check()).toThrow('The thing was closed');
    await expect(guard.track(job().cancellation, async () => 1)).rejects.toMatchObject({ code: 'bad-request' });
    await disposal;
  });

  it('disposes a child that a job adds during dispose', async () => {
    const guard = new DisposeGuard('thing');
    const child = vi.fn(async () => {});
    const { cancellation, start } = job();
    const running = guard.track(cancellation, async () => {
      await start();
      guard.adopt(child);
    });
    await guard.dispose(async () => {});
    await running;
    expect(child).toHaveBeenCalledOnce();
  });

  it('forgets children and survives work that fails', async () => {
    const guard = new DisposeGuard('thing');
    const child = vi.fn(async () => {});
    guard.adopt(child)();
    const failing = guard.track(job().cancellation, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await guard.dispose(async () => {});
    expect(child).not.toHaveBeenCalled();
  });
});
