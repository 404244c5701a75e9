import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realClock } from '../../base/clock.ts';

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
    assert.equal(process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length, before);
  });

  test('does not fall asleep when the signal has aborted', async () => {
    const reason = new Error('before');
    await assert.rejects(realClock.sleep(60_000, AbortSignal.abort(reason)), (error) => error === reason);
  });

  test('no time is no wait', () => realClock.sleep(0));
});
