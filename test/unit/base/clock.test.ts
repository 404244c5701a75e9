import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realClock } from '../../../base/clock.ts';

describe('the clock of the machine', () => {
  test('sleeps at least as long as asked', async () => {
    const from = realClock.monotonic();
    await realClock.sleep(20);
    assert.ok(realClock.monotonic() - from >= 19);
  });

  test('wakes with the reason of its signal, and leaves nothing behind', async () => {
    const before = process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;
    const stop = new AbortController();
    const reason = new Error('enough');
    const sleeping = assert.rejects(realClock.sleep(60_000, stop.signal), (error) => error === reason);
    stop.abort(reason);
    await sleeping;
    await assert.rejects(realClock.sleep(60_000, stop.signal), (error) => error === reason, 'it had aborted before');
    assert.equal(process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length, before);
  });

  test('rings once, after the time', async () => {
    const from = realClock.monotonic();
    let rung = 0;
    await new Promise<void>((resolve) => {
      realClock.after(20, () => {
        rung += 1;
        resolve();
      });
    });
    assert.ok(realClock.monotonic() - from >= 19);
    assert.equal(rung, 1);
  });

  test('what is stopped does not ring, and leaves nothing behind', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;
    const before = timers();
    const stop = realClock.after(60_000, () => assert.fail('it rang'));
    assert.equal(timers(), before + 1);
    stop();
    assert.equal(timers(), before);
  });

  test('a time that no timer of the machine can wait for is waited for, and can be stopped in the midst of it', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const rung: string[] = [];
    const month = 30 * 86_400_000;
    realClock.after(month, () => rung.push('kept'));
    const stop = realClock.after(month, () => rung.push('stopped'));
    t.mock.timers.tick(2 ** 31 - 1);
    stop();
    t.mock.timers.tick(month - (2 ** 31 - 1) - 1);
    assert.deepEqual(rung, []);
    t.mock.timers.tick(1);
    assert.deepEqual(rung, ['kept']);
  });

  test('a sleep that no timer of the machine can wait for is several', async (t) => {
    const asked: number[] = [];
    t.mock.method(globalThis, 'setTimeout', (ring: () => void, ms: number) => {
      asked.push(ms);
      queueMicrotask(ring);
    });
    await realClock.sleep(2 ** 31 + 4_999);
    assert.deepEqual(asked, [2 ** 31 - 1, 5_000]);
  });
});
