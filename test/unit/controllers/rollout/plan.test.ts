import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { rfc3339 } from '../../../../base/clock.ts';
import type { Facts } from '../../../../controllers/rollout/contract.ts';
import { Fleet } from '../../../../controllers/rollout/fleet.ts';
import type { RolloutNode } from '../../../../controllers/rollout/node.ts';
import { pageRollout, standingsKey } from '../../../../controllers/page/views.ts';
import { inLine } from '../../../../controllers/rollout/cluster/budget.ts';
import { rolloutIndexes } from '../../../../controllers/rollout/observe.ts';
import { type Plan, plan } from '../../../../controllers/rollout/plan.ts';
import { readStatus } from '../../../../controllers/rollout/read-status.ts';
import { rolloutMetrics } from '../../../../controllers/rollout/status.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout, RolloutSpec } from '../../../../controllers/rollout/types.ts';
import { table } from '../../../support/table.ts';

const at = (time: string): number => Date.parse(`2026-03-01T${time}:00Z`);
const [namespace, now] = ['dkc-system', at('12:00')];
const key = { namespace, kubeletConfigKey: 'kubelet' };
const source = (name: string) => (name === '' ? null : { ...key, name, uid: name, resourceVersion: '1' });

/** `NAME:ASSIGNED:ACTIVE+FLAG`: without them on its local configuration; without the last it has proved what it is assigned, at 10:00 (`+late`) or 11:59. */
function nodeOf(text: string): RolloutNode {
  const [of = '', ...flags] = text.split('+');
  const [node = '', wanted = '', runs = wanted] = of.split(':');
  const is = (flag: string): boolean => flags.includes(flag);
  const reported = { reports: true, agent: null, assigned: source(runs), active: source(runs), lastKnownGood: source(runs) };
  const health = { ready: !is('down'), cordoned: is('cordon'), unhealthy: is('sick'), error: is('bad') ? statusErrors.failedTrial : null };
  const assigned = { wanted: source(wanted), rollout: 'web', assignedAt: at(is('late') ? '10:00' : '11:59') };
  const about = { labels: { zone: String(is('z2')) }, kubeletVersion: is('old') ? 'v1.34.2' : 'v1.36.3' };
  const annotations = is('drained') ? { 'dkc.dev/drained-by': 'web/u72' } : {};
  const conditions = is('next') ? [{ type: 'MaintenancePlanned', status: 'True', message: 'NodeConfigRollout web/u72: soon' }] : [];
  const object = { metadata: { annotations }, status: { conditions } };
  const objects = { carrier: 'nodeconfig', object, config: is('lost') ? undefined : {} };
  return { node, ...reported, ...health, ...assigned, ...about, ...objects } as unknown as RolloutNode;
}

/** Of its spec and status; when the clock was set to, whether the window is closed, and a node whose drain on the way back failed. */
type Given = Omit<RolloutSpec, 'configMap'> & { configMap?: object; status?: object; gap?: string; shut?: boolean; undrained?: string; taken?: boolean; refused?: boolean }; // prettier-ignore

/** From `old` to `new`; `mid` came between. */
function rolloutOf({ status, configMap, ...given }: Given): NodeConfigRollout {
  const general = { nodeSelector: {}, maxUnavailable: '100%', steps: [{ nodes: '100%' }], drain: 'Never' };
  const spec = { ...general, ...given, configMap: { ...key, name: 'new', ...configMap } };
  return { metadata: { name: 'web', uid: 'u72' }, spec, status: { revision: 'new', previousRevision: 'old', ...status } } as unknown as NodeConfigRollout; // prettier-ignore
}

/** At 12:00. */
function planned(nodes: string, given: Given, rollout = rolloutOf(given)): Plan {
  const { gap, shut, undrained, taken = false, refused = false } = given;
  const revisions = ['first', 'old', 'mid', 'new'].map((name, nth) => ({
    metadata: { name, namespace, annotations: { 'dkc.dev/revision': String(nth + 1), 'dkc.dev/copy-of': 'a/web:kubelet@1' } },
    data: { kubelet: '{}' },
  }));
  const edited = { metadata: { name: 'edited', namespace }, data: { kubelet: '{}' } };
  const rules = rulesOf(rollout);
  const facts = {
    rules,
    now,
    source: [...revisions, edited].find(({ metadata }) => metadata.name === rules.configMap.name),
    revisions,
    isTaken: () => taken,
    unwritten: { size: 1, get: () => (refused ? 'no' : undefined), has: () => refused },
    isUsed: () => false,
    fleet: new Fleet(nodes.split(' ').map(nodeOf)),
    configs: { rejects: (_: unknown, __: unknown, version: string) => (version === 'v1.36.3' ? [] : ['no']) },
    drains: new Map(undrained ? [[undrained, { at: 'failed', error: 'Blocked', revision: 'old', attempt: 1 }]] : []),
    window: shut ? { open: false } : { open: true, until: Infinity },
    gaps: gap && [{ from: at('10:30'), to: at(gap) }],
    touches: { mayArrive: () => true, isOld: () => true },
  };
  return plan(facts as unknown as Facts) ?? assert.fail();
}

/** What is written on nodes and copies, the phase and what it waits for, and whether it says `complete` otherwise; what nodes go back to, but for `old`. */
function say({ actions, status: { phase, waitsFor, previousRevision = 'local', complete, touches } }: Plan): string {
  const told = actions.flatMap((action) => {
    if (!('node' in action)) return [`${action.do.split('-')[0]} ${action.revision.metadata.name}`];
    const { node } = action.node;
    if (action.do !== 'assign') return action.do === 'plan-maintenance' ? [] : [`${action.do} ${node}`];
    assert.equal(touches?.nodes.find((touch) => touch.node === node)?.at, rfc3339(now), `${node} is not written down`);
    return [`assign ${node}${action.revision === 'new' ? '' : `@${action.revision}`}`];
  });
  const stands = [phase, waitsFor, phase === 'Complete' || (complete && 'complete'), previousRevision === 'old' || previousRevision];
  return [...told, stands.filter((one) => typeof one === 'string').join(' ')].join(', ');
}

const rows = table('nodes | given | says | why')(`
  a:old b:old c:old d:old e:old | steps: [{ nodes: 30% }] | assign a, assign b, Progressing | rounds the nodes of a step up
  a b c d e | maxUnavailable: 30% | assign a, Progressing | rounds maxUnavailable down
  a:new b:new | steps: [{ nodes: 1 }, { nodes: 100%, approve: true }], status: { step: 2 } | Complete | has no step after the last node
  a:new+bad b c d e | failureBudget: 40% | RollingBack | stops by a share of the nodes touched
  a:new+bad b | failureBudget: 3, maxUnavailable: 1 | RollingBack | stops where failed nodes leave no other its place
  a:new | status: { failures: [{ node: a, error: late, at: '2026-03-01T11:00:00Z' }] } | Complete | forgives a node that settles after all
  a:new b | status: { complete: true, failures: [{ node: c, error: no, at: '2026-03-01T11:00:00Z' }] } | assign b, Complete
    | forgets a late failure whose node is gone
  a:new b c+old | | assign b, Progressing | goes on beside a late node whose kubelet would reject it
  a:new+late+down b | | assign b, Progressing | waits for a node that has proved the revision
  a:new+sick b:old | steps: [{ nodes: 1 }, { nodes: 100% }] | Progressing | waits for the kubelet of a canary
  a:new:old+late | gap: 11:59 | restart-deadline a, Progressing | counts a deadline from when the clock was set forward
  a:new b:old | steps: [{ nodes: 1, hold: 90m }, { nodes: 2 }], status: { stepSettledAt: '2026-03-01T10:00:00Z' }, gap: 11:59 | Holding Hold
    | counts a hold from when the clock was set forward
  a:new b:old | steps: [{ nodes: 1, approve: true }, { nodes: 2 }], status: { approvals: [{ step: 1, revision: old }] } | Holding Approval
    | takes no approval of another revision
  a:new b | shut: true, status: { complete: true } | Complete Window | stays complete while a late joiner waits for the window
  a+cordon b | maxUnavailable: 1 | assign a, Progressing | takes a cordoned node, which is unavailable already
  a b:hand:old | maxUnavailable: 1, steps: [{ nodes: 1 }] | Progressing MaxUnavailable | counts a node that changes by hand
  a b::hand+lost | maxUnavailable: 1 | assign a, Progressing | does not count a node that keeps what it runs without a NodeConfig
  a:old b:mid+down | steps: [{ nodes: 1 }], maxUnavailable: 1 | assign b, Progressing | takes a node first that an edited revision has left not Ready
  a:old+sick b:old | maxUnavailable: 1 | assign b, Progressing | takes a node last that is not healthy
  a+down b+down | | Pending Nodes | waits for its canary
  a:old b:old+z2 c:old | spreadBy: zone | assign a, assign c, Progressing | keeps to the domain of the first node
  a:old b:old+z2 c:new:old+z2 | spreadBy: zone | assign b, Progressing | keeps to the domain of nodes in flight
  a b c | steps: [{ nodes: 1 }], maxUnavailable: 2 | assign a, assign b@old, Progressing | gives joiners the revision before
  a b | paused: true | Paused Resume | gives joiners nothing while it is paused
  a:new b | configMap: { kubeletConfigKey: other } | Pending ConfigMap | touches no further node without the key
  a | abortedRevision: mid | assign a, Progressing | goes on after another revision was aborted
  a:new | abortedRevision: new, status: { complete: true } | assign a@old, RollingBack | is not complete once it is aborted
  a:new | abortedRevision: new, onFailure: Pause | assign a@old, RollingBack | takes nodes back when it is aborted, in spite of Pause
  a:new b:old+down | abortedRevision: new, maxUnavailable: 1 | assign a@old, RollingBack | takes one back beside others that are down
  a:old:new+late | abortedRevision: new | Failed | says that a node did not come back
  a:old:new+drained | abortedRevision: new | RollingBack | keeps a node drained until it has come back
  a:old:new+late | abortedRevision: new, gap: 11:59 | restart-deadline a, RollingBack | counts the way back from when the clock was set
  a:new | abortedRevision: new, drain: Always, undrained: a | assign a@old, RollingBack | takes back what cannot be drained
  a:mid b:new | abortedRevision: new | assign a@old, assign b@old, RollingBack | takes back what an edit took the place of
  a:mid | status: { revision: mid } | assign a, Progressing | does not go back to what was never complete
  a:mid b:mid | steps: [{ nodes: 1, approve: true }], status: { previousRevision: new } | assign a, assign b, Progressing new
    | goes back to the last complete revision without steps
  a:new | revisionHistoryLimit: 3 | delete first, Complete | deletes the oldest copy
  a:mid | configMap: { name: mid } | number mid, Complete | makes a revision that is undone to the newest
  a | status: { touches: { nodes: [{ node: a, revision: new, at: '2026-03-01T11:58:00Z' }] } } | assign a, Progressing
    | writes down again what was written down long ago
  a | maxUnavailable: -1 | Pending Spec | keeps what it knows beside a mistake
`);
for (const { nodes, given, says, why } of rows)
  test(`a rollout ${why}`, () => assert.equal(say(planned(nodes, parse(`{ ${given} }`) as Given)), says));

const idle = table('why | given | says')(`
  finds no ConfigMap               | configMap: { name: none }                  | give-back a, give-back b, Pending ConfigMap
  finds the name of its copy taken | configMap: { name: edited }, taken: true   | give-back a, give-back b, Pending Revision
  may not write its copy           | configMap: { name: edited }, refused: true | create edited, give-back a, give-back b, Pending Revision
`);
for (const { why, given, says } of idle)
  test(`a rollout that ${why} gives back what it drained or announced, and nodes in flight fail in time`, () => {
    const status = { revision: 'gone' };
    const idling = planned('a+drained b+next c:gone:old', { ...(parse(`{ ${given} }`) as Given), status });
    assert.equal(say(idling).replace(/web-\w+/, 'edited'), says);
    assert.deepEqual(idling.wakeUps, [{ requeueAfter: 14 * 60_000, why: 'the deadline of a node' }]);
  });

test('a rollout without nodes in flight names those that keep it from going on', () => {
  const { message } = planned('a:old b:old+down c:old+down', { maxUnavailable: 2 }).status;
  assert.match(message ?? '', /; 2 nodes unavailable, the limit of spec\.maxUnavailable: (b, c|c, b)$/);
});

test('a paused rollout keeps since when it is complete, and the newest approvals', () => {
  const since = '2026-03-01T09:00:00Z';
  const conditions = ['Complete', 'Failed'].map((type) => ({ type, status: 'True', lastTransitionTime: since }));
  const approvals = Array.from({ length: 51 }, (_, step) => ({ step, revision: 'new', by: 'me', at: since }));
  const { status } = planned('a:new', { paused: true, status: { complete: true, conditions, approvals } });
  const said = status.conditions?.slice(1, 3).map(({ status: is, lastTransitionTime }) => `${is} ${lastTransitionTime}`);
  assert.deepEqual(said, [`True ${since}`, `False ${rfc3339(now)}`]);
  assert.deepEqual([status.approvals?.length, status.approvals?.at(-1)?.step], [50, 50]);
});

const when = '2026-03-01T11:00:00Z';
/** A rollout with all that it may have. */
const whole = rolloutOf({
  ...(parse(`{
    nodeSelector: { matchLabels: { a: b }, matchExpressions: [{ key: a, operator: In, values: [b] }] }, steps: [{ nodes: 1, hold: 1m, approve: true }],
    maxUnavailable: 1, spreadBy: zone, failureBudget: 2, onFailure: Pause, nodeDeadline: 5m, drain: Always, drainTimeout: 5m,
    drainPolicy: { unmanagedPods: Evict, emptyDir: Evict }, windows: [{ schedule: 0 2 * * *, duration: 1h, timeZone: UTC }],
    gates: [{ name: g, object: { apiVersion: v1, kind: Node, name: a, condition: Ready } }], signature: { required: false },
    skipInvalidNodes: true, paused: false, abortedRevision: mid, attempt: 1, revisionHistoryLimit: 3 }`) as Given),
  status: parse(`{
    observedGeneration: 1, phase: Progressing, stopped: Failures, attempt: 1, attemptAt: '${when}', complete: false, step: 1, stepSettledAt: '${when}',
    nodes: { selected: 3, updated: 1, settled: 1, inFlight: 0, failed: 1, refused: 0 }, nextWindow: '${when}', waitsFor: Window,
    failures: [{ node: a, error: no, at: '${when}' }], approvals: [{ step: 1, revision: new, by: me, at: '${when}' }],
    touches: { nodes: [{ node: b, revision: new, at: '${when}' }], nodesVersion: '7', nodeConfigsVersion: '8' }, message: so,
    conditions: [{ type: Complete, status: 'False', observedGeneration: 1, lastTransitionTime: '${when}', reason: Hold, message: so }] }`) as object,
});

/** Each part of a value: its path, and the value with something else in place of the part. */
function* parts(of: unknown, path = ''): Generator<[path: string, part: unknown, put: (other: unknown) => unknown]> {
  if (path !== '') yield [path, of, (other) => other];
  if (typeof of !== 'object' || of === null) return;
  for (const [name, member] of Object.entries(of))
    for (const [at, part, put] of parts(member, `${path}.${name}`))
      yield [at, part, (other) => (Array.isArray(of) ? of.with(Number(name), put(other)) : { ...of, [name]: put(other) })];
}

test('a rollout of which another writer has malformed any part is planned, counted and shown; what is no spec is a problem, and nothing is touched', () => {
  assert.deepEqual(readStatus(whole), whole.status, 'what is not malformed is read as it is');
  const typeOf = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
  const metrics: (() => unknown)[] = [];
  for (const [path, part, put] of parts({ spec: whole.spec, status: whole.status }))
    for (const junk of [null, 'x', -7.5, true, {}, [], [null], [{}]]) {
      const rollout: NodeConfigRollout = { ...whole, ...(put(junk) as object) };
      const { actions, status } = planned('a:new+bad b:old c:mid+drained d+next', {}, rollout);
      const { problems } = rulesOf(rollout);
      const why = `${path}: ${JSON.stringify(junk)}`;
      if (path.startsWith('.spec') && typeOf(part) !== typeOf(junk))
        assert.deepEqual([problems.length > 0, actions, status.waitsFor], [true, [], 'Spec'], why);
      assert.ok(Number.isFinite(inLine(rollout, now).servedAt), why);
      pageRollout(rulesOf(rollout));
      for (const read of [standingsKey, ...Object.values(rolloutIndexes)]) read(rollout);
      rolloutMetrics({ series: (_, __, ___, series) => void metrics.push(series) }, () => [rollout]);
    }
  for (const read of metrics) assert.doesNotMatch(JSON.stringify(read()), /"value":(?!\d+[,}])|"(phase|reason)":(?!")/);
});
