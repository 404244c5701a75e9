import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOfNode, healthOfPods, nodeHeartbeat, podSeen, type PodSeen } from '../../../../agent/trial/node-signals.ts';

/** Of this minute: the trial began at 10.5 s, the kubelet started at 12.7 s, and it is 40 s now. */
const at = (second: number): string => `2026-03-01T00:00:${String(second).padStart(2, '0')}Z`;
const second = (second: number): number => Date.parse(at(0)) + second * 1000;
const readyTimes = { trialAt: second(10.5), kubeletAt: second(12.7), now: second(40) };

const ready = (status: string, { heartbeat = 20, since = 1 }: { heartbeat?: number; since?: number } = {}) => ({
  metadata: { name: 'node-a' },
  status: {
    conditions: [
      { type: 'DiskPressure', status: 'True' },
      { type: 'Ready', status, reason: 'KubeletNotReady', message: 'no network', lastHeartbeatTime: at(heartbeat), lastTransitionTime: at(since) }, // prettier-ignore
    ],
  },
});

// prettier-ignore
const readyCases = [
  { why: 'Ready, with a heartbeat in the second in which it started, and no Lease', node: ready('True', { heartbeat: 12 }), is: true },
  { why: 'Ready, with such a heartbeat and a Lease that the kubelet before renewed', node: ready('True', { heartbeat: 12 }), renewedAt: second(12.5), is: false },
  { why: 'Ready, with such a heartbeat and a Lease that this kubelet renewed', node: ready('True', { heartbeat: 12 }), renewedAt: second(12.8), is: true },
  { why: 'Ready, with a heartbeat of the kubelet before', node: ready('True', { heartbeat: 11 }), is: false },
  { why: 'Ready, with an old heartbeat and a Lease that this kubelet renewed', node: ready('True', { heartbeat: 11 }), renewedAt: second(13), is: true },
  { why: 'not Ready since the change', node: ready('False', { since: 15 }), is: false },
  { why: 'not Ready since before the change', node: ready('False', { since: 9 }), is: undefined },
  { why: 'not Ready since nobody knows when', node: ready('False', { since: 99 }), is: undefined },
  { why: 'not Ready since a time ahead, by a clock that was set back before the change', node: ready('False', { since: 50 }), is: undefined },
  { why: 'Unknown to a controller whose clock is ahead', node: ready('Unknown', { since: 50 }), is: false },
  { why: 'not Ready any more, by a clock that was set back since the change', node: ready('False', { since: 9 }), wasReady: true, is: false },
  { why: 'full of nothing', node: { metadata: { name: 'node-a' }, status: { conditions: [null, 7, { type: 'Ready' }] } }, is: undefined },
] as const;

for (const { why, node, is, ...more } of readyCases)
  test(`a Node that is ${why} says ${is === undefined ? 'nothing' : is ? 'well' : 'badly'}`, () => {
    const word = nodeHeartbeat(node);
    assert.equal(healthOfNode({ ...word, ...more }, { ...readyTimes, ...more })?.healthy, is);
  });

const ms = (second: number): number => Date.parse('2026-03-01T01:00:00Z') + second * 1000;
const times = { trialAt: ms(10), kubeletAt: ms(12), now: ms(60) };

/** `db OutOfcpu@14`: a pod that ran before the change and failed so, that second; `+5` began at that second; no reason: runs. */
function pods(...texts: string[]): PodSeen[] {
  return texts.map((text) => {
    const [, name = '', started = '0', reason, at] = /^(\w+)(?:\+(\d+))?(?: (\w*)@(\w+))?$/.exec(text) ?? [];
    const failed = reason === undefined ? {} : { failed: { reason, at: at === 'unknown' ? Number.NaN : ms(Number(at)) } };
    return { uid: name, name: `web/${name}`, startedAt: ms(Number(started)), ...failed };
  });
}

// prettier-ignore
const cases: { why: string; pods: PodSeen[]; bad: string }[] = [
  ...['OutOfcpu', 'UnexpectedAdmissionError', 'SysctlForbidden'].map((reason) => (
    { why: `one was rejected by ${reason}`, pods: pods('a', `b ${reason}@14`), bad: `web/b (${reason})` })),
  { why: 'one failed by itself', pods: pods('a Error@14', 'b @14', 'c DeadlineExceeded@14'), bad: '' },
  { why: 'one was rejected in the second of the start', pods: pods('a OutOfcpu@11'), bad: 'web/a (OutOfcpu)' },
  { why: 'a new pod was rejected', pods: pods('a+20 OutOfcpu@21'), bad: '' },
  { why: 'nobody knows when one was rejected', pods: pods('a OutOfcpu@unknown'), bad: '' },
  { why: 'three were evicted', pods: pods('a Evicted@14', 'b Evicted@15', 'c Evicted@16'), bad: 'web/a (Evicted), web/b (Evicted), web/c (Evicted)' },
];

for (const { why, pods: seen, bad } of cases)
  test(`pods of the node: ${why}`, () => {
    const health = healthOfPods(seen, new Set(), times);
    assert.equal(health.healthy, bad === '');
    if (bad !== '') assert.equal(health.detail, `the restarted kubelet rejected pods that ran before: ${bad}`);
  });

const raw = (status: object, metadata: object = {}) => ({ metadata: { namespace: 'web', name: 'a', uid: 'u', ...metadata }, status });
const startTime = '2026-03-01T01:00:00Z';

// prettier-ignore
const shapes = [
  { why: 'a running one', pod: raw({ phase: 'Running', startTime }), is: { startedAt: ms(0) } },
  { why: 'one with a condition', pod: raw({ phase: 'Failed', reason: 'OutOfcpu', startTime, conditions: [{ lastTransitionTime: '2026-03-01T01:00:14Z' }, { lastTransitionTime: startTime }] }), is: { startedAt: ms(0), failed: { reason: 'OutOfcpu', at: ms(14) } } },
  { why: 'one that the kubelet wrote', pod: raw({ phase: 'Failed', reason: 'OutOfcpu', startTime }, { managedFields: [{ manager: 'kube-scheduler', time: '2026-03-01T01:59:00Z' }, { manager: 'kubelet', time: '2026-03-01T01:00:16Z' }] }), is: { startedAt: ms(0), failed: { reason: 'OutOfcpu', at: ms(16) } } },
  { why: 'one that was rejected and ended with 0', pod: { ...raw({ phase: 'Succeeded', startTime }, { managedFields: [{ manager: 'kubelet', time: '2026-03-01T01:00:16Z' }] }), spec: { restartPolicy: 'Always' } }, is: { startedAt: ms(0), failed: { reason: 'Rejected', at: ms(16) } } },
  { why: 'one that was evicted and ended with 0', pod: { ...raw({ phase: 'Succeeded', startTime, conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-03-01T01:00:16Z' }] }), spec: { restartPolicy: 'Always' } }, is: { startedAt: ms(0), failed: { reason: 'Evicted', at: ms(16) } } },
  { why: 'one whose deadline is over', pod: { ...raw({ phase: 'Succeeded', startTime }), spec: { restartPolicy: 'Always', activeDeadlineSeconds: 5 } }, is: { startedAt: ms(0) } },
  { why: 'one of nonsense', pod: raw({ phase: 'Failed', reason: 7, startTime: {}, conditions: 'x', containerStatuses: [null, { state: 7 }] }), is: { startedAt: Number.NaN, failed: { reason: '', at: Number.NaN } } },
];

for (const { why, pod, is } of shapes)
  test(`a pod is read: ${why}`, () => assert.deepEqual(podSeen(pod), { uid: 'u', name: 'web/a', ...is }));
