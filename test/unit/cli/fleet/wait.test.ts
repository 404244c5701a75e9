import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { settling, waitForNodes, type Goal, type Wait } from '../../../../cli/fleet/wait.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import type { FleetCarrier } from '../../../../cli/fleet/carrier.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const source = (name: string, resourceVersion = '1'): Source => ({ ...web, name, uid: name, resourceVersion });
const nothing: FleetNode = { node: 'a', carrier: 'node', wanted: web, reports: true, assigned: null, active: null, lastKnownGood: null, error: null, agent: null, ready: null, kubeletVersion: '' }; // prettier-ignore
const node = (over: Partial<FleetNode>): FleetNode => ({ ...nothing, ...over });
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
const parts: Readonly<Record<string, (config: Source) => Partial<FleetNode>>> = {
  assigned: (assigned) => ({ assigned }),
  active: (active) => ({ active }),
  trusted: (lastKnownGood) => ({ lastKnownGood }),
  error: () => ({ error: failed }),
  'no-download': () => ({ error: statusErrors.download }),
  silent: () => ({ reports: false }),
  elsewhere: () => ({ wanted: null }),
};
const saying = (words: string): FleetNode =>
  node(
    Object.assign({}, ...words.split(' ').map((word) => {
      const [what = '', of = ''] = word.split('=');
      return parts[what]?.(source(...(of.split('@') as [string, string?])));
    })) as Partial<FleetNode>,
  ); // prettier-ignore

for (const { why, before, now, goal, at } of waits)
  test(`assign --wait ${why}`, () => {
    assert.equal(settling({ wanted: web, goal: goal as Goal }, saying(before), saying(now), now.endsWith(' late')).at, at);
  });

test('unassign --wait is settled when the node runs its local config, and not while it reports what it refused before', () => {
  const at = (now: Partial<FleetNode>): string => {
    const said = node({ wanted: null, ...now });
    return settling({ wanted: null, goal: 'active' }, said, said, true).at;
  };
  const old = { assigned: source('old'), active: source('old') };
  const errors = [statusErrors.load, statusErrors.syncInternal].map((error) => at({ ...old, error }));
  assert.deepEqual([at({}), ...errors], ['settled', 'waiting', 'failed']);
});

test('assign --wait fails when the Node goes away', () =>
  assert.equal(settling({ wanted: web, goal: 'trusted' }, node({}), undefined, false).at, 'failed'));

test('assign --wait is settled on the version that was assigned, and not on the one before', () => {
  const on = (rv: string): FleetNode => node({ assigned: source('web', rv), active: source('web', rv) });
  const wanted = { wanted: web, version: { uid: 'web', resourceVersion: '2' }, goal: 'active' } as const;
  const ats = [
    ['1', '1'],
    ['1', '2'],
    ['2', '2'],
  ].map(([old = '', now = '']) => settling(wanted, on(old), on(now), false).at);
  assert.deepEqual(ats, ['waiting', 'settled', 'settled']);
});

const trouble = 'failed to validate config, see Kubelet log for details';

test('the first node that fails ends the wait for all; the time limit does too', async () => {
  const clock = new FakeClock();
  const before = ['a', 'b'].map((name) => node({ node: name }));
  const end = async (says: readonly FleetNode[]): Promise<string[]> => {
    const watch: FleetCarrier['watch'] = (_names, seen, signal) => {
      queueMicrotask(() => says.forEach((one) => seen(one.node, one)));
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    };
    const wait: Wait = { wanted: web, goal: 'trusted', before, timeoutMs: 60_000, onProgress: () => {}, onEnd: () => {} };
    const ends = await waitForNodes({ watch }, clock, wait, new AbortController().signal);
    return [...ends].map(([name, { at }]) => `${name} ${at}`);
  };
  const refuses = node({ node: 'b', assigned: source('web'), active: source('old'), error: trouble });
  assert.deepEqual(await end([node({}), refuses]), ['a waiting', 'b failed']);
  const late = end(before);
  await clock.advance(60_000);
  assert.deepEqual(await late, ['a waiting', 'b waiting']);
  assert.equal(clock.sleepers, 0);
});
