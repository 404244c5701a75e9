import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { daemonTolerations } from '../../../../../controllers/daemonset/placement/tolerations.ts';

const modern = [
  'node.kubernetes.io/not-ready Exists NoExecute',
  'node.kubernetes.io/unreachable Exists NoExecute',
  'node.kubernetes.io/disk-pressure Exists NoSchedule',
  'node.kubernetes.io/memory-pressure Exists NoSchedule',
  'node.kubernetes.io/pid-pressure Exists NoSchedule',
  'node.kubernetes.io/unschedulable Exists NoSchedule',
];
const legacy = modern.filter((one) => !one.includes('pid-pressure'));
const network = 'node.kubernetes.io/network-unavailable Exists NoSchedule';
const disk = ['node.kubernetes.io/out-of-disk Exists NoExecute', 'node.kubernetes.io/out-of-disk Exists NoSchedule'];

const cases = [
  { why: 'of a plain set', era: 'modern', critical: false, hostNetwork: undefined, expected: modern },
  { why: 'of one that says it needs a network', era: 'modern', critical: false, hostNetwork: false, expected: modern },
  { why: 'of one on the host network', era: 'modern', critical: false, hostNetwork: true, expected: [...modern, network] },
  { why: 'of a critical one, which is no longer told by annotation', era: 'modern', critical: true, hostNetwork: false, expected: modern },
  { why: 'of a legacy set', era: 'legacy', critical: false, hostNetwork: false, expected: legacy },
  { why: 'of a legacy one on the host network', era: 'legacy', critical: false, hostNetwork: true, expected: [...legacy, network] },
  { why: 'of a legacy critical one', era: 'legacy', critical: true, hostNetwork: false, expected: [...legacy, ...disk] },
  {
    why: 'of a legacy critical one on the host network',
    era: 'legacy',
    critical: true,
    hostNetwork: true,
    expected: [...legacy, network, ...disk],
  },
] as const;
for (const { why, era, critical, hostNetwork, expected } of cases) {
  test(`tolerations ${why}`, () => {
    const spec: Partial<PodSpec> = hostNetwork === undefined ? {} : { hostNetwork };
    const found = daemonTolerations(spec, { era, critical }).map(({ key, operator, effect, ...rest }) => {
      assert.deepEqual(rest, {});
      return `${key} ${operator} ${effect}`;
    });
    assert.deepEqual(found, expected);
  });
}

test('tolerations of a template stay in front, and do not run out where an automatic one says the same', () => {
  const own = { key: 'gpu', operator: 'Exists' };
  const short = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  const found = daemonTolerations({ tolerations: [own, short] }, { era: 'modern', critical: false });
  const { tolerationSeconds, ...ever } = short;
  assert.equal(tolerationSeconds, 5);
  assert.deepEqual(found.slice(0, 2), [own, ever]);
  assert.equal(found.length, modern.length + 1);
});

test('no spec has the automatic tolerations alone', () => {
  assert.equal(daemonTolerations(undefined, { era: 'modern', critical: false }).length, modern.length);
});
