import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOfPods, podSeen, type PodSeen } from '../../../../agent/trial/node-signals.ts';

const ms = (second: number): number => Date.parse('2026-03-01T01:00:00Z') + second * 1000;
const times = { trialAt: ms(10), kubeletAt: ms(12), now: ms(60) };
const NOBODY: ReadonlySet<string> = new Set();

/** `db OutOfcpu@14`: a pod that ran before the change and failed so, that second; `+5` began at that second; no reason: runs. */
function pods(...texts: string[]): PodSeen[] {
  return texts.map((text) => {
    const [, name = '', started = '0', reason, at] = /^(\w+)(?:\+(\d+))?(?: (\w*)@(\w+))?$/.exec(text) ?? [];
    const failed = reason === undefined ? {} : { failed: { reason, at: at === 'unknown' ? Number.NaN : ms(Number(at)) } };
    return { uid: name, name: `web/${name}`, startedAt: ms(Number(started)), ...failed };
  });
}

// prettier-ignore
const cases: { why: string; pods: PodSeen[]; alive?: string[]; bad: string }[] = [
  ...['OutOfcpu', 'UnexpectedAdmissionError', 'SysctlForbidden'].map((reason) => (
    { why: `one was rejected by ${reason}`, pods: pods('a', `b ${reason}@14`), bad: `web/b (${reason})` })),
  { why: 'one failed by itself', pods: pods('a Error@14', 'b @14', 'c DeadlineExceeded@14'), bad: '' },
  { why: 'one was rejected long before', pods: pods('a OutOfcpu@5'), bad: '' },
  { why: 'one was rejected in the second of the start', pods: pods('a OutOfcpu@11'), bad: 'web/a (OutOfcpu)' },
  { why: 'a new pod was rejected', pods: pods('a+20 OutOfcpu@21'), bad: '' },
  { why: 'nobody knows when one was rejected', pods: pods('a OutOfcpu@unknown'), bad: '' },
  { why: 'two were evicted', pods: pods('a Evicted@14', 'b Evicted@15'), bad: '' },
  { why: 'three were evicted', pods: pods('a Evicted@14', 'b Evicted@15', 'c Evicted@16'), bad: 'web/a (Evicted), web/b (Evicted), web/c (Evicted)' },
];

for (const { why, pods: seen, alive = [], bad } of cases)
  test(`pods of the node: ${why}`, () => {
    const health = healthOfPods(seen, new Set(alive), times);
    assert.equal(health.healthy, bad === '');
    if (bad !== '') assert.equal(health.detail, `the restarted kubelet rejected pods that ran before: ${bad}`);
  });

test('of very many pods ten are named', () => {
  const health = healthOfPods(pods(...Array.from({ length: 5000 }, (_, n) => `p${n} OutOfpods@14`)), NOBODY, times);
  assert.match(health.detail, /web\/p9 \(OutOfpods\) and 4990 more$/);
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
  { why: 'one that is deleted', pod: { ...raw({ phase: 'Succeeded', startTime }, { deletionTimestamp: startTime }), spec: { restartPolicy: 'Always' } }, is: { startedAt: ms(0) } },
  { why: 'one whose deadline is over', pod: { ...raw({ phase: 'Succeeded', startTime }), spec: { restartPolicy: 'Always', activeDeadlineSeconds: 5 } }, is: { startedAt: ms(0) } },
  { why: 'one of nonsense', pod: raw({ phase: 'Failed', reason: 7, startTime: {}, conditions: 'x', containerStatuses: [null, { state: 7 }] }), is: { startedAt: Number.NaN, failed: { reason: '', at: Number.NaN } } },
];

for (const { why, pod, is } of shapes)
  test(`a pod is read: ${why}`, () => assert.deepEqual(podSeen(pod), { uid: 'u', name: 'web/a', ...is }));
