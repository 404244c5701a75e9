import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { settling, waitForNodes, type Goal, type Wait } from '../../../../cli/fleet/wait.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import type { FleetCarrier } from '../../../../cli/fleet/carrier.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const source = (name: string, resourceVersion = '1'): Source => ({ ...web, name, uid: name, resourceVersion });
const node = (over: Partial<FleetNode>): FleetNode => ({
  node: 'a',
  carrier: 'node',
  wanted: web,
  reports: true,
  assigned: null,
  active: null,
  lastKnownGood: null,
  error: null,
  agent: null,
  ready: null,
  kubeletVersion: '',
  ...over,
});
const failed = 'failed trial, see dkc-agent log for details';

/** What a node says: `assigned=web@2` and so on, in version 1 where none is given; `late` is after the time that an answer of before has. */
const waits = table('goal | at | before | now | why')(`
  active  | waiting |       | silent                                    | waits for an agent
  active  | waiting |       | assigned=old                              | waits until the source is taken over
  active  | waiting |       | assigned=web active=old                   | waits until it is active
  active  | waiting |       | assigned=web@2 active=web                 | waits while another version is active
  active  | settled |       | assigned=web active=web                   | is settled when the assigned is active
  active  | failed  |       | error                                     | fails on an error that is new
  active  | waiting | error | error                                     | gives an error of before some time
  active  | failed  | error | error late                                | takes the error of before as an answer in the end
  active | waiting | error assigned=old | error assigned=web
    | takes no old error beside a new assigned for an answer: the agent is only about to start on it
  active | failed | error active=web | error assigned=web active=old | takes an old error as new once another config is active
  trusted | waiting |       | assigned=web active=web trusted=old       | waits for trust while the config that it runs is on trial
  trusted | waiting |       | assigned=web@2 active=web@2 trusted=web   | waits for trust while another version is trusted
  trusted | settled |       | assigned=web active=web trusted=web       | is settled when the node trusts what it runs
  trusted | failed  |       | assigned=web active=old trusted=old error | fails when the trial fails
  trusted | waiting |       | no-download                               | gives a failed download some time
  active  | failed  |       | no-download late                          | takes a download that still fails for an answer
  active  | failed  |       | elsewhere                                 | fails when somebody else assigns something else
`);
function saying(words: string): FleetNode {
  const over = words.split(' ').map((word): Partial<FleetNode> => {
    const [what = '', of = ''] = word.split('=');
    const config = source(...(of.split('@') as [string, string?]));
    switch (what) {
      case 'assigned':
        return { assigned: config };
      case 'active':
        return { active: config };
      case 'trusted':
        return { lastKnownGood: config };
      case 'error':
        return { error: failed };
      case 'no-download':
        return { error: statusErrors.download };
      case 'silent':
        return { reports: false };
      case 'elsewhere':
        return { wanted: null };
      default:
        return {};
    }
  });
  return node(Object.assign({}, ...over) as Partial<FleetNode>);
}

for (const { why, before, now, goal, at } of waits)
  test(`assign --wait ${why}`, () => {
    assert.equal(settling({ wanted: web, goal: goal as Goal }, saying(before), saying(now), now.endsWith(' late')).at, at);
  });

const local = [
  { why: 'waits while the node reports that it refused what was assigned before', now: { assigned: source('old'), active: source('old'), error: statusErrors.load }, at: 'waiting' }, // prettier-ignore
  { why: 'waits while the node reports that what was assigned before is condemned', now: { assigned: source('old'), active: null, error: failed }, at: 'waiting' }, // prettier-ignore
  { why: 'fails where the node cannot follow', now: { assigned: source('old'), active: source('old'), error: statusErrors.syncInternal }, at: 'failed' }, // prettier-ignore
  { why: 'is settled when the node runs its local config', now: {}, at: 'settled' },
];
for (const { why, now, at } of local)
  test(`unassign --wait ${why}`, () => {
    const said = node({ wanted: null, ...now });
    assert.equal(settling({ wanted: null, goal: 'active' }, said, said, true).at, at);
  });

test('assign --wait fails when the Node goes away', () =>
  assert.equal(settling({ wanted: web, goal: 'trusted' }, node({}), undefined, false).at, 'failed'));

const versions = [
  { why: 'waits while the version of before is in use', old: '1', now: '1', at: 'waiting' },
  { why: 'is settled on the version that was assigned', old: '1', now: '2', at: 'settled' },
  { why: 'is settled at once where that version is in use already', old: '2', now: '2', at: 'settled' },
  { why: 'is settled on a version that came later still', old: '1', now: '3', at: 'settled' },
];
for (const { why, old, now, at } of versions)
  test(`assign --wait ${why}`, () => {
    const on = (rv: string) => node({ assigned: source('web', rv), active: source('web', rv) });
    const version = { uid: 'web', resourceVersion: '2' };
    assert.equal(settling({ wanted: web, version, goal: 'active' }, on(old), on(now), false).at, at);
  });

const trouble = 'failed to validate config, see Kubelet log for details';

const refused = { at: 'failed', how: 'refused', error: trouble, runs: 'dkc-system/old:kubelet@1' };
const fellBack = { ...refused, how: 'fell-back' };

/** A node that ran `old` with an error when `web` was assigned to it, and a wait for that. */
async function waiting(goal: Goal = 'active') {
  const clock = new FakeClock();
  const before = node({ assigned: source('old'), active: source('old'), error: trouble });
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
      {
        wanted: web,
        goal: 'trusted',
        before: both.map((name) => node({ node: name })),
        timeoutMs: 60_000,
        onProgress: () => {},
        onEnd: () => {},
      },
      new AbortController().signal,
    );
  const failed = await wait((say) => {
    say('a', node({}));
    say('b', node({ node: 'b', assigned: source('web'), active: source('old'), error: trouble }));
  });
  assert.deepEqual([...failed].map(([name, { at }]) => `${name} ${at}`), ['a waiting', 'b failed']); // prettier-ignore
  const late = wait((say) => both.forEach((name) => say(name, node({ node: name }))));
  await clock.advance(60_000);
  assert.deepEqual([...(await late)].map(([name, { at }]) => `${name} ${at}`), ['a waiting', 'b waiting']); // prettier-ignore
  assert.equal(clock.sleepers, 0);
});

test('a watch that fails for good ends the wait with its error', async () => {
  const wait: Wait = { wanted: web, goal: 'active', before: [node({})], timeoutMs: 60_000, onProgress: () => {}, onEnd: () => {} };
  const broken = { watch: () => Promise.reject(new Error('broken')) };
  await assert.rejects(waitForNodes(broken, new FakeClock(), wait, new AbortController().signal), { message: 'broken' });
});
