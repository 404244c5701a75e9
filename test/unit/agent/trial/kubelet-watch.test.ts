import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeletWatch } from '../../../../agent/trial/kubelet-watch.ts';
import type { KubeletExit } from '../../../../agent/trial/exits.ts';
import { silentLog } from '../../../../base/log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { assignedSituation } from '../../../support/situations.ts';

const MINUTE = 60_000;

/** A kubelet on the effective file `abc`, and what is said of it. */
async function watched() {
  const [clock, end, configState] = [new FakeClock(), new AbortController(), assignedSituation()];
  const kubelet = { healthy: true, running: true };
  const exits: KubeletExit[] = [];
  const said: (string | null)[] = [];
  const exited = async (...of: string[]): Promise<void> => {
    const ends = of.map((word) => word.split(' ') as [string, string?]);
    const how = { at: '2026-03-01T00:00:00Z', exitCode: 'exited', exitStatus: '1' };
    exits.push(...ends.map(([effectiveSha256, serviceResult = 'exit-code']) => ({ ...how, effectiveSha256, serviceResult })));
    watch.notify();
    await clock.advance(0);
  };
  const watch = new KubeletWatch({
    options: { kubeletHealthz: 'http://healthz', trialDuration: 10 * MINUTE, unhealthyDeadline: 2 * MINUTE, maxKubeletExits: 3 },
    configState,
    exits: { length: async () => exits.length, since: async (offset) => ({ exits: exits.slice(offset), bad: 0, offset: exits.length }) },
    clock,
    log: silentLog,
    probe: async () => ({ healthy: kubelet.healthy, detail: 'of the probe' }),
    isRunning: async () => kubelet.running,
    onState: (problem) => said.push(problem),
  });
  await exited('abc', 'abc', 'abc');
  const running = watch.run(end.signal);
  const stop = async (): Promise<void> => (end.abort(), await running);
  return { clock, configState, kubelet, said, exited, end: stop };
}

test('exits outside a trial count once each: those under the effective file that are to blame on it, since the agent started', async () => {
  const { clock, configState, said, exited, end } = await watched();
  await exited('abc', 'abc', 'other', 'other', 'abc success');
  await clock.advance(5 * MINUTE);
  configState.update({ trial: { endsAt: '' } });
  await exited('abc');
  configState.update({ trial: null });
  await exited('abc', 'abc');
  assert.deepEqual(said, [], 'a trial begins the counts again');
  await exited('abc');
  await exited('abc');
  const problem = 'kubelet exited 3 times under a config that is last known good: it is not condemned, the cause is likely elsewhere';
  assert.deepEqual([said, configState.picture.health], [[problem], { at: 'unhealthy', problem }], 'though the probe is healthy');
  await clock.advance(9 * MINUTE);
  assert.deepEqual(said, [problem]);
  await clock.advance(2 * MINUTE);
  assert.deepEqual([said, configState.picture.health], [[problem, null], { at: 'healthy' }]);
  await end();
});

test('a kubelet that is not healthy for as long as a trial allows is reported, unless it does not run', async () => {
  const { clock, kubelet, said, end } = await watched();
  Object.assign(kubelet, { healthy: false, running: false });
  await clock.advance(10 * MINUTE);
  assert.deepEqual(said, []);
  kubelet.running = true;
  await clock.advance(3 * MINUTE);
  assert.match(said.join(), /^kubelet was not healthy for 120 s under /);
  await end();
});
