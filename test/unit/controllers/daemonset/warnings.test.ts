import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf, warningsOf } from '../../../../controllers/daemonset/rules.ts';
import { daemonSet, type SetOptions } from './notation.ts';

const surge = { maxUnavailable: 0, maxSurge: 1 };
const port = (hostPort: number) => ({ containers: [{ name: 'a' }, { name: 'c', ports: [{ containerPort: 80, hostPort }] }] });
const open = { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] };

const cases: { why: string; set: SetOptions; warns: string[] }[] = [
  { why: 'nothing', set: {}, warns: [] },
  { why: 'a host port that two pods of a surge would want', set: { ...surge, spec: port(9100) }, warns: ['HostPortWithSurge'] },
  { why: 'no host port where pods are replaced in place', set: { spec: port(9100) }, warns: [] },
  { why: 'no host port where people delete', set: { ...surge, onDelete: true, spec: port(9100) }, warns: [] },
  { why: 'no port of the pod alone', set: { ...surge, spec: open }, warns: [] },
  { why: 'no host port of nothing', set: { ...surge, spec: port(0) }, warns: [] },
  { why: 'a port on the network of the host', set: { ...surge, spec: { ...open, hostNetwork: true } }, warns: ['HostPortWithSurge'] },
  { why: 'an annotation that cannot be read', set: { annotations: { 'dkc.dev/paused': 'yes' } }, warns: ['InvalidAnnotation'] },
  {
    why: 'all that there is',
    set: { ...surge, spec: port(9100), annotations: { 'dkc.dev/paused': 'yes', 'dkc.dev/partition': 'x' } },
    warns: ['InvalidAnnotation', 'InvalidAnnotation', 'HostPortWithSurge'],
  },
];
const warn = (set: SetOptions) => warningsOf(rulesOf(daemonSet(set), 'scheduler'));
for (const { why, set, warns } of cases)
  test(`a set is warned of ${why}`, () =>
    assert.deepEqual(
      warn(set).map(({ reason }) => reason),
      warns,
    ));

test('warnings say what to do', () => {
  assert.deepEqual(warn({ ...surge, spec: port(9100), annotations: { 'dkc.dev/paused': 'yes' } }), [
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
