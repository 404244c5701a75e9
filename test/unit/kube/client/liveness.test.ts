import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Liveness } from '../../../../kube/client/liveness.ts';

test('a server is asked for a sign of life while something is under way, and only then', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let probes = 0;
  const dead: unknown[] = [];
  const silence = new Error('silence');
  const probe = () => (++probes === 2 ? Promise.reject(silence) : Promise.resolve());
  const liveness = new Liveness(probe, { everyMs: 0, timeoutMs: 1 }, (cause) => void dead.push(cause));
  const tick = async () => {
    t.mock.timers.tick(1);
    await Promise.resolve();
    await Promise.resolve();
  };
  liveness.begin();
  liveness.end();
  await tick();
  assert.equal(probes, 0);
  liveness.begin();
  liveness.begin();
  liveness.end();
  await tick();
  assert.deepEqual([probes, dead], [1, []]);
  await tick();
  assert.deepEqual([probes, dead], [2, [silence]]);
  liveness.end();
  await tick();
  assert.equal(probes, 2);
});
