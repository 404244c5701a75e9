import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import type { Store } from '../../../../agent/store/store.ts';
import { ExitsFile } from '../../../../agent/trial/exits.ts';
import { TrialWatch } from '../../../../agent/trial/trial.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { condemned, content, source } from '../../../support/builders.ts';

const A = content('A');
const gone = { read: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })), stat: async () => undefined };

/** A trial of A that passes at once. @returns what was written to the store once the promotion was tried */
async function promote({ rolledBack }: { rolledBack: boolean }): Promise<string[]> {
  const written: string[] = [];
  const tried = Promise.withResolvers<void>();
  const store = {
    trial: async () => undefined,
    load: async () => ({ at: 'missing' }),
    setTrial: async (record: unknown) => void (record ?? written.push('trial removed')),
    condemned: async () => (rolledBack ? [condemned(A, { by: 'admin' })] : []),
    setRecord: async (name: string) => void written.push(name),
    addToJournal: async ({ event }: { event: string }) => void written.push(event),
    locked: async (change: (own: unknown) => Promise<unknown>) => {
      const result = await change(store);
      tried.resolve();
      return result;
    },
  };
  const watch = new TrialWatch({
    options: { kubeletHealthz: '', trialDuration: 1, unhealthyDeadline: 1000, maxKubeletExits: 3 },
    store: store as unknown as Store,
    configState: new NodeConfigState({
      used: 'assigned',
      source: source('web@1'),
      content: A,
      assigned: source('web@1'),
      assignedKnown: true,
      lastKnownGood: null,
      error: null,
      effective: { path: '/e', sha256: 'x', changed: false, usable: true },
    }),
    exits: new ExitsFile(gone, '/exits', silentLog),
    clock: realClock,
    log: silentLog,
    boot: { bootId: 'boot', stoppedIn: undefined },
    probe: async () => ({ healthy: true, detail: '' }),
    isRunning: async () => true,
    onHealthy: () => {},
    exit: async () => {},
  });
  await watch.open();
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  await tried.promise;
  stop.abort();
  await running;
  return written;
}

test('a trial that passes makes its config last known good', async () => {
  assert.deepEqual(await promote({ rolledBack: false }), ['last-known-good', 'trial removed', 'promoted']);
});

test('a config that an admin rolled back at that very moment does not replace what is trusted', async () => {
  assert.deepEqual(await promote({ rolledBack: true }), []);
});
