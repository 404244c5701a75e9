import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { waitForNodes, type Wait, type Goal } from '../../../../cli/fleet/wait.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import type { FleetCarrier } from '../../../../cli/fleet/carrier.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const source = (name: string): Source => ({ ...web, name, uid: name, resourceVersion: '1' });
const trouble = 'failed to validate config, see Kubelet log for details';

const refused = { at: 'failed', how: 'refused', error: trouble, runs: 'dkc-system/old:kubelet@1' };
const fellBack = { ...refused, how: 'fell-back' };

/** A node that ran `old` with an error when `web` was assigned to it, and a wait for that. */
async function waiting(goal: Goal = 'active') {
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
    agent: null,
    ready: null,
    kubeletVersion: '',
  };
  let tell: (node: FleetNode) => void = () => {};
  const watch: FleetCarrier['watch'] = (_name, onSeen, signal) => {
    tell = (node) => onSeen('a', node);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const wait: Wait = { wanted: web, goal, before: [before], timeoutMs: 3_600_000, onProgress: () => {}, onEnd: (...end) => told.push(end) };
  const told: unknown[] = [];
  const never = new AbortController().signal;
  const ends = waitForNodes({ watch }, clock, wait, never);
  await atRest();
  return { clock, before, told, says: (over: Partial<FleetNode>) => tell({ ...before, ...over }), end: async () => (await ends).get('a') };
}

test('the error of before does not end a wait while the agent starts on what is new', async () => {
  const { clock, says, end } = await waiting();
  says({});
  await clock.advance(14_000);
  says({ assigned: source('web') });
  await clock.advance(14_000);
  says({ assigned: source('web'), active: source('web'), error: null });
  assert.deepEqual(await end(), { at: 'settled', state: 'active' });
  assert.equal(clock.sleepers, 0);
});

test('the error of before is the answer of a node that stays where it is', async () => {
  const { clock, says, end } = await waiting();
  says({});
  await clock.advance(15_000);
  assert.deepEqual(await end(), refused);
  assert.equal(clock.sleepers, 0);
});

test('the error of before is the answer when it still stands some time after the new config was taken over', async () => {
  const { clock, says, end } = await waiting();
  says({ assigned: source('web') });
  await clock.advance(15_000);
  assert.deepEqual(await end(), fellBack);
});

test('a wait for trust goes on through the trial, and says how long it took', async () => {
  const { clock, told, says, end } = await waiting('trusted');
  const assigned = { assigned: source('web'), active: source('web'), error: null };
  says({ ...assigned, lastKnownGood: source('old') });
  await clock.advance(602_000);
  assert.deepEqual(told, []);
  says({ ...assigned, lastKnownGood: source('web') });
  const trusted = { at: 'settled', state: 'trusted' };
  assert.deepEqual(await end(), trusted);
  assert.deepEqual(told, [['a', trusted, 602_000]]);
  assert.equal(clock.sleepers, 0);
});

test('the same words as before are news once the error was cleared', async () => {
  const { says, end } = await waiting('trusted');
  says({ assigned: source('web'), active: source('web'), error: null });
  says({ assigned: source('web'), active: source('old') });
  assert.deepEqual(await end(), fellBack);
});

test('a sync error that passes does not end a wait, one that stays does', async () => {
  const { clock, says, end } = await waiting('trusted');
  const download = statusErrors.download;
  says({ error: null });
  await clock.advance(60_000);
  says({ error: download });
  await clock.advance(10_000);
  says({ error: null });
  await clock.advance(60_000);
  says({ error: download });
  await clock.advance(14_000);
  assert.equal(clock.sleepers, 1, 'it waits on');
  await clock.advance(1_000);
  assert.deepEqual(await end(), { at: 'failed', how: 'error', error: download, runs: 'dkc-system/old:kubelet@1' });
});

test('the first node that fails ends the wait for all; the time limit does too', async () => {
  const clock = new FakeClock();
  const node = (name: string): FleetNode => ({ ...plain, node: name });
  const plain: FleetNode = { node: '', carrier: 'node', wanted: web, reports: true, assigned: null, active: null, lastKnownGood: null, error: null, agent: null, ready: null, kubeletVersion: '' }; // prettier-ignore
  const both = ['a', 'b'];
  const wait = (onSeen: (say: (name: string, node: FleetNode) => void) => void) =>
    waitForNodes(
      {
        watch: (_names, seen, signal) => {
          queueMicrotask(() => onSeen(seen));
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
      },
      clock,
      { wanted: web, goal: 'trusted', before: both.map(node), timeoutMs: 60_000, onProgress: () => {}, onEnd: () => {} },
      new AbortController().signal,
    );
  const failed = await wait((say) => {
    say('a', node('a'));
    say('b', { ...node('b'), assigned: source('web'), active: source('old'), error: trouble });
  });
  assert.deepEqual([...failed].map(([name, { at }]) => `${name} ${at}`), ['a waiting', 'b failed']); // prettier-ignore
  const late = wait((say) => both.forEach((name) => say(name, node(name))));
  await clock.advance(60_000);
  assert.deepEqual([...(await late)].map(([name, { at }]) => `${name} ${at}`), ['a waiting', 'b waiting']); // prettier-ignore
  assert.equal(clock.sleepers, 0);
});

test('a watch that fails for good ends the wait with its error', async () => {
  const before = { node: 'a', carrier: 'node' as const, wanted: web, reports: true, assigned: null, active: null, lastKnownGood: null, error: null, agent: null, ready: null, kubeletVersion: '' }; // prettier-ignore
  const wait: Wait = { wanted: web, goal: 'active', before: [before], timeoutMs: 60_000, onProgress: () => {}, onEnd: () => {} };
  const broken = { watch: () => Promise.reject(new Error('broken')) };
  await assert.rejects(waitForNodes(broken, new FakeClock(), wait, new AbortController().signal), { message: 'broken' });
});
