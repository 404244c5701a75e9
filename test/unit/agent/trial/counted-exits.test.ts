import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import type { Store, TrialRecord } from '../../../../agent/store/store.ts';
import type { ExitsFile, KubeletExit } from '../../../../agent/trial/exits.ts';
import { TrialWatch } from '../../../../agent/trial/trial.ts';
import { silentLog } from '../../../../base/log.ts';
import { content, source } from '../../../support/builders.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const A = content('A');
const crash = (effectiveSha256: string): KubeletExit => {
  return { at: '2026-01-01T00:00:00Z', serviceResult: 'exit-code', exitCode: 'exited', exitStatus: '1', effectiveSha256 };
};

test('of the exits of the kubelet only those under the config on trial count, and they are on disk before the next look', async () => {
  const unread = [crash('before'), crash('before'), crash('before'), crash('now')];
  const written: (TrialRecord | undefined)[] = [];
  const store = {
    trial: async () => undefined,
    load: async () => ({ at: 'missing' }),
    setTrial: async (record: TrialRecord | undefined) => void written.push(record),
  };
  const looks: (() => void)[] = [];
  const look = (): Promise<void> => new Promise((resolve) => looks.push(resolve));
  const stop = new AbortController();
  const watch = new TrialWatch({
    options: { kubeletHealthz: '', trialDuration: 600_000, unhealthyDeadline: 600_000, maxKubeletExits: 3 },
    store: store as unknown as Store,
    configState: new NodeConfigState({
      used: 'assigned',
      source: source('web@1'),
      content: A,
      assigned: source('web@1'),
      assignedKnown: true,
      lastKnownGood: null,
      error: null,
      effective: { path: '/e', sha256: 'now', changed: false, usable: true },
    }),
    exits: { length: async () => 0, since: async () => ({ exits: unread.splice(0), offset: 400 }) } as unknown as ExitsFile,
    clock: new FakeClock(),
    log: silentLog,
    boot: { bootId: 'boot', stoppedIn: undefined },
    probe: async () => ({ healthy: true, detail: '' }),
    isRunning: async () => true,
    onHealthy: () => looks.shift()?.(),
    exit: async () => assert.fail('the agent goes back, though one exit is allowed'),
  });
  await watch.open();
  const first = look();
  const running = watch.run(stop.signal);
  await first;
  const second = look();
  watch.notify();
  await second;
  assert.deepEqual([written.at(-1)?.exits, written.at(-1)?.exitsOffset], [1, 400]);
  stop.abort();
  await running;
});
