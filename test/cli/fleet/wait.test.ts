import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, FakeClock } from '../../helpers/fake-clock.ts';
import { waitForNodes, type Wait } from '../../../cli/fleet/wait.ts';
import type { FleetCarrier } from '../../../cli/fleet/carrier.ts';
import type { FleetNode } from '../../../cli/fleet/fleet-node.ts';
import type { Source } from '../../../agent/checkpoint/source.ts';

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const source = (name: string): Source => ({ ...web, name, uid: name, resourceVersion: '1' });
const trouble = 'failed to validate config, see Kubelet log for details';

/** A node that ran `old` with an error when `web` was assigned to it, and a wait for that. */
async function waiting() {
  const clock = new FakeClock();
  const before: FleetNode = {
    node: 'a',
    carrier: 'node',
    wanted: web,
    reports: true,
    assigned: source('old'),
    active: source('old'),
    lastKnownGood: null,
    error: trouble,
  };
  let tell: (node: FleetNode) => void = () => {};
  const watch: FleetCarrier['watch'] = (_name, onSeen, signal) => {
    tell = onSeen;
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const refuse = () => Promise.reject(new Error('not in this test'));
  const wait: Wait = { wanted: web, before: [before], timeoutMs: 300_000, onProgress: () => {} };
  const never = new AbortController().signal;
  const ends = waitForNodes({ watch, list: refuse, read: refuse, assign: refuse }, clock, wait, never);
  await atRest();
  return { clock, before, says: (over: Partial<FleetNode>) => tell({ ...before, ...over }), end: async () => (await ends).get('a') };
}

test('the error of before does not end a wait while the agent starts on what is new', async () => {
  const { clock, says, end } = await waiting();
  says({});
  await clock.advance(14_000);
  says({ assigned: source('web') });
  await clock.advance(14_000);
  says({ assigned: source('web'), active: source('web'), error: null });
  assert.deepEqual(await end(), { at: 'settled' });
  assert.equal(clock.sleepers, 0);
});

test('the error of before is the answer of a node that stays where it is', async () => {
  const { clock, says, end } = await waiting();
  says({});
  await clock.advance(15_000);
  assert.deepEqual(await end(), { at: 'failed', error: trouble });
  assert.equal(clock.sleepers, 0);
});

test('the error of before is the answer when it still stands some time after the new config was taken over', async () => {
  const { clock, says, end } = await waiting();
  says({ assigned: source('web') });
  await clock.advance(15_000);
  assert.deepEqual(await end(), { at: 'failed', error: trouble });
});
