import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetSpec } from 'kubernetes-types/apps/v1.js';
import { daemonTolerations, optInsOf, type Rules, rulesOf, selects, warningsOf } from '../../../../controllers/daemonset/rules.ts';
import { actionsOf, daemonSet, planned, pod, type SetOptions, templateOf } from './notation.ts';
import { rows } from './rows.ts';

const read = (options: SetOptions = {}): Rules => rulesOf(daemonSet(options), 'scheduler');

test('a set of which nothing is said has the defaults of the API', () => {
  const bare = rulesOf({ metadata: { name: 'ds', namespace: 'ns', uid: 'u' } }, 'scheduler');
  const { update, surging, minReadyMs, historyLimit, templateGeneration, critical } = bare;
  assert.deepEqual(update, { type: 'RollingUpdate', maxUnavailable: 1, maxSurge: 0 });
  assert.deepEqual([surging, minReadyMs, historyLimit, templateGeneration, critical], [false, 0, 10, undefined, false]);
});

const surges: { why: string; set: SetOptions; is: boolean }[] = [
  { why: 'with a share, however small', set: { maxSurge: '1%' }, is: true },
  { why: 'not with what cannot be read', set: { maxSurge: 'some' }, is: false },
  { why: 'not where people delete', set: { maxSurge: 1, onDelete: true }, is: false },
];
for (const { why, set, is } of surges) test(`a set surges ${why}`, () => assert.equal(read(set).surging, is));

const selectors: { why: string; selector: DaemonSetSpec['selector'] | undefined; kind: Rules['selector']['kind'] }[] = [
  { why: 'by labels', selector: { matchLabels: { app: 'x' } }, kind: 'labels' },
  { why: 'everything by an empty one', selector: {}, kind: 'all' },
  { why: 'nothing that could be read without one', selector: undefined, kind: 'bad' },
  { why: 'nothing that could be read by an unknown word', selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] }, kind: 'bad' },
];
for (const { why, selector, kind } of selectors)
  test(`a set selects ${why}`, () => {
    const set = daemonSet();
    const spec = { ...set.spec, selector, template: templateOf('new') } as DaemonSetSpec;
    const rules = rulesOf({ ...set, spec }, 'scheduler');
    assert.equal(rules.selector.kind, kind);
    const other = { ...pod('a@new'), metadata: { name: 'p', labels: { app: 'y' } } };
    assert.equal(selects(rules)(pod('a@new')), kind === 'labels');
    assert.equal(selects(rules)(other), false);
  });

test('an old-style critical pod is one of kube-system with its annotation, where the controller places pods', () => {
  const critical = (namespace: string, annotation: string, placement: 'scheduler' | 'controller'): boolean => {
    const set = daemonSet();
    const annotations = { 'scheduler.alpha.kubernetes.io/critical-pod': annotation };
    const spec: DaemonSetSpec = { selector: {}, template: { ...templateOf('new'), metadata: { annotations } } };
    return rulesOf({ ...set, metadata: { ...set.metadata, namespace }, spec }, placement).critical;
  };
  assert.equal(critical('kube-system', '', 'controller'), true);
  assert.equal(critical('kube-system', '', 'scheduler'), false);
  assert.equal(critical('default', '', 'controller'), false);
  assert.equal(critical('kube-system', 'false', 'controller'), false);
});

const cases = rows(`
  a b   | a@old b@old! +paused=true          |                            | paused, replaces nothing
  a b   | a@old +paused=true                 | create b@new               | paused, makes what is missing of the present template
  a b   | a@old b@old# +paused=true          | delete b-old (failed)      | paused, removes what failed

  a b c | a@old b@old c@old maxUnavailable=3 +partition=2 | delete a-old (update)      | with a partition, leaves so many old
  a b c | a@old b@old c@old maxUnavailable=3 +partition=34% | delete a-old (update)      | rounds a share to keep up
  a b c | a@old- b@old c@old maxUnavailable=3 +partition=2 |                            | counts those under way, whose new ones come later
  a b c | c@old +partition=2                 | create a@new, create b@old | makes missing ones new as far as the partition leaves room
  a b   | a@older +partition=2               | create b@older             | gives kept nodes the newest other revision that a pod has
  a b c | c@old onDelete +partition=3        | create a@new, create b@new | where people delete, makes all new
  a b c | a@old b@old c@old maxUnavailable=0 maxSurge=4 +partition=2 | create a@new | surges as far as the partition leaves room

  a b:canary c | a@old b@old c@old maxUnavailable=3 +rollout-node-selector=pool=canary | delete b-old (update)
    | with a selector, updates only nodes that match
  a b:canary | a@old! b@new +rollout-node-selector=pool=canary |                            | with a selector, leaves broken ones elsewhere
  a b:canary | a@old! b@old maxUnavailable=0 maxSurge=4 +rollout-node-selector="pool in (canary, next)" | create b@new
    | with a selector, surges only where it matches
  a b:canary c:canary | a@old b@old c@old maxUnavailable=3 +partition=2 +rollout-node-selector=pool | delete b-old (update)
    | with both, heeds both

  a b   | a@old b@old! +partition=some       |                            | with a partition that cannot be read, replaces nothing
  a b   | a@old b@old! +rollout-node-selector="a in" |                            | with a selector that cannot be read, replaces nothing
  a b   | a@old +partition=some              | create b@old               | with one that cannot be read, makes missing ones as they were
`);
for (const { why, does, situation } of cases) test(`a set ${why}`, () => assert.equal(actionsOf(planned(situation)), does));

const readings: { why: string; annotations: Record<string, string>; is: Partial<ReturnType<typeof optInsOf>>; problems?: number }[] = [
  { why: 'a count', annotations: { 'dkc.dev/partition': ' 3 ' }, is: { partition: 3 } },
  { why: 'a share', annotations: { 'dkc.dev/partition': '30%' }, is: { partition: '30%' } },
  { why: 'a deadline', annotations: { 'dkc.dev/progress-deadline': '10m' }, is: { progressDeadlineMs: 600_000 } },
  { why: 'an empty selector', annotations: { 'dkc.dev/rollout-node-selector': '' }, is: { rolloutNodes: undefined }, problems: 1 },
  { why: 'two that are wrong', annotations: { 'dkc.dev/paused': '', 'dkc.dev/partition': 'x' }, is: { paused: false }, problems: 2 },
];
for (const { why, annotations, is, problems = 0 } of readings)
  test(`opt-ins: ${why}`, () => {
    const read = optInsOf(annotations);
    assert.deepEqual({ ...read, ...is }, read);
    assert.equal(read.problems.length, problems);
  });

const automatic = [
  'node.kubernetes.io/not-ready Exists NoExecute',
  'node.kubernetes.io/unreachable Exists NoExecute',
  'node.kubernetes.io/disk-pressure Exists NoSchedule',
  'node.kubernetes.io/memory-pressure Exists NoSchedule',
  'node.kubernetes.io/pid-pressure Exists NoSchedule',
  'node.kubernetes.io/unschedulable Exists NoSchedule',
];
const legacy = automatic.filter((one) => !one.includes('pid-pressure'));
const network = 'node.kubernetes.io/network-unavailable Exists NoSchedule';
const disk = ['node.kubernetes.io/out-of-disk Exists NoExecute', 'node.kubernetes.io/out-of-disk Exists NoSchedule'];
const every = [...legacy, network, ...disk];

const tolerations = [
  { why: 'of a plain set', era: 'modern', critical: false, spec: {}, expected: automatic },
  { why: 'of one on the host network', era: 'modern', critical: false, spec: { hostNetwork: true }, expected: [...automatic, network] },
  { why: 'of a legacy set', era: 'legacy', critical: false, spec: { hostNetwork: false }, expected: legacy },
  { why: 'of a legacy critical one on the host network', era: 'legacy', critical: true, spec: { hostNetwork: true }, expected: every },
] as const;
for (const { why, era, critical, spec, expected } of tolerations)
  test(`tolerations ${why}`, () => {
    const found = daemonTolerations(spec, { era, critical }).map(({ key, operator, effect, ...rest }) => {
      assert.deepEqual(rest, {});
      return `${key} ${operator} ${effect}`;
    });
    assert.deepEqual(found, expected);
  });

test('tolerations of a template stay in front, and do not run out where an automatic one says the same', () => {
  const own = { key: 'gpu', operator: 'Exists' };
  const short = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  const found = daemonTolerations({ tolerations: [own, short] }, { era: 'modern', critical: false });
  const { tolerationSeconds, ...ever } = short;
  assert.equal(tolerationSeconds, 5);
  assert.deepEqual(found.slice(0, 2), [own, ever]);
  assert.equal(found.length, automatic.length + 1);
});

const surging = { maxUnavailable: 0, maxSurge: 1 };
const port = (hostPort: number) => ({ containers: [{ name: 'a' }, { name: 'c', ports: [{ containerPort: 80, hostPort }] }] });
const open = { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] };

const warn = (set: SetOptions) => warningsOf(rulesOf(daemonSet(set), 'scheduler'));
const warned: { why: string; set: SetOptions; warns: string[] }[] = [
  { why: 'nothing', set: {}, warns: [] },
  { why: 'no host port where people delete', set: { ...surging, onDelete: true, spec: port(9100) }, warns: [] },
  { why: 'a port on the network of the host', set: { ...surging, spec: { ...open, hostNetwork: true } }, warns: ['HostPortWithSurge'] },
];
for (const { why, set, warns } of warned) {
  const reasons = warn(set).map(({ reason }) => reason);
  test(`a set is warned of ${why}`, () => assert.deepEqual(reasons, warns));
}

test('warnings say what to do', () => {
  assert.deepEqual(warn({ ...surging, spec: port(9100), annotations: { 'dkc.dev/paused': 'yes' } }), [
    {
      type: 'Warning',
      reason: 'InvalidAnnotation',
      message: 'No pods are replaced: invalid annotation: dkc.dev/paused is "yes"; write "true" or "false"',
    },
    {
      type: 'Warning',
      reason: 'HostPortWithSurge',
      message:
        'Updates with maxSurge cannot complete: a new pod cannot run beside the old one, which uses host port 9100; use maxUnavailable',
    },
  ]);
});
