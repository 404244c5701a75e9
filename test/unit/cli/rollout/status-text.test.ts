import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import type { FleetObjects } from '../../../../cli/rollout/fleet-objects.ts';
import { exitOf } from '../../../../cli/rollout/follow.ts';
import { treeText } from '../../../../cli/rollout/status-text.ts';
import { viewOf } from '../../../../cli/rollout/view.ts';
import type { NodeConfigRollout, RolloutStatus } from '../../../../controllers/rollout/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const NOW = Date.parse('2026-03-01T00:10:00Z');
const AT = '2026-03-01T00:00:00Z';
const spec = { namespace: 'dkc-system', name: 'web-1', kubeletConfigKey: 'kubelet' };
const source = { ...spec, uid: 'u', resourceVersion: '5' };

const web = (status: RolloutStatus): NodeConfigRollout => ({
  metadata: { name: 'web', uid: 'uid', generation: 2, creationTimestamp: AT },
  spec: { nodeSelector: { matchLabels: { pool: 'web' } }, configMap: { ...spec, name: 'web' }, steps: [{ nodes: 2, hold: '90s', approve: true }, { nodes: '100%' }] }, // prettier-ignore
  status: { observedGeneration: 2, revision: 'web-1', step: 1, ...status },
});

/** `+` settled, `t` on trial, `x` condemned, `-` not touched, `!` not touched and not Ready. */
function fleet(rollout: NodeConfigRollout, nodes: Readonly<Record<string, '+' | 't' | 'x' | '-' | '!'>>): FleetObjects {
  const objects = new Map<string, KubeObject>();
  const configs = new Map<string, KubeObject>();
  for (const [name, at] of Object.entries(nodes)) {
    const conditions = [{ type: 'Ready', status: at === '!' ? 'False' : 'True' }];
    objects.set(name, { metadata: { name, labels: { pool: name === 'other' ? 'db' : 'web' } }, status: { conditions } });
    const isAssigned = '+tx'.includes(at);
    const used = isAssigned && at !== 'x' ? { configMap: source } : undefined;
    const status = {
      observedGeneration: 1,
      agentVersion: '1.0.0',
      ...(isAssigned ? { assigned: { configMap: source } } : {}),
      ...(used ? { active: used } : {}),
      ...(used && at === '+' ? { lastKnownGood: used } : {}),
      ...(at === 't' ? { trial: { endsAt: '2026-03-01T00:15:30Z' } } : {}),
      ...(at === 'x' ? { error: 'failed trial, see dkc-agent log for details' } : {}),
    };
    configs.set(name, { metadata: { name, generation: 1 }, spec: isAssigned ? { configMap: spec } : {}, status });
  }
  const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
  return { serves, rollouts: new Map([['web', rollout]]), nodes: objects, nodeConfigs: configs };
}

const people = { wide: false, paint: pc.createColors(false), columns: undefined };

test('the tree shows steps and the nodes that each adds; a name that a terminal would obey is printable; other nodes, and what no rollout controller writes, are left out', () => {
  const others = { failures: [null], approvals: [null], conditions: 'none' } as unknown as RolloutStatus;
  const rollout = web({ ...others, phase: 'Holding', waitsFor: 'Approval', message: 'step 1 \u001b[2Jis done' });
  const nodes = { a: '+', b: 't', c: '-', d: '!', e: 'x', other: '-' } as const;
  const text = treeText(viewOf(rollout, fleet(rollout, nodes), NOW), NOW, people);
  const sorted = text.split('\n').map((line) => line.replace(/^[│ ]  [├└]─ /, '   ')); // prettier-ignore
  assert.deepEqual(sorted.slice(0, 9), [
    'Name:        web',
    'Phase:       ◷ Holding (waits for: Approval)',
    'ConfigMap:   dkc-system/web:kubelet',
    'Revision:    web-1',
    'Previous:    local',
    'Created:     10m ago',
    'Message:     step 1 \\u001b[2Jis done',
    '',
    '├─ ◌ step 1: 2 nodes, hold 1m30s, then approval   ' + (sorted[8] ?? '').slice(-11),
  ]);
  const lines = ['✔ a   settled', '◌ b   in-flight   its trial is running, 5m30s left', '• c   waiting', '⚠ d   not-ready   it is not Ready', '✖ e   failed   failed trial, see dkc-agent log for details']; // prettier-ignore
  for (const line of lines) assert.equal(sorted.filter((one) => one === `   ${line}`).length, 1, line);
  assert.ok(!text.includes('other'));
  assert.ok(Math.max(...['✔ a', '◌ b', '✖ e'].map((one) => text.indexOf(one))) < text.indexOf('• c'));
  assert.ok(text.indexOf('• c') < text.indexOf('⚠ d'));
});

test('a step of many nodes lists those that failed or are in flight, and counts the others', () => {
  const rollout = web({ phase: 'Progressing', step: 2 });
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`n${at}`, at === 7 ? 'x' : at === 8 ? 't' : '+'] as const));
  const view = viewOf(rollout, fleet(rollout, many), NOW);
  const text = treeText(view, NOW, people);
  const shown = text.split('\n').filter((line) => line.startsWith('   ')).length;
  assert.deepEqual([view.steps.map(({ nodes }) => nodes.length), shown], [[2, 38], 11]);
  assert.match(text, new RegExp(`└─ and 28 more: 28 settled\n$`));
  assert.equal(treeText(view, NOW, { ...people, wide: true }).split('\n').filter((line) => /^[│ ] {2}/.test(line)).length, 40); // prettier-ignore
});

const ends: { why: string; status: RolloutStatus; code: number | undefined }[] = [
  { why: 'it is complete', status: { phase: 'Complete' }, code: 0 },
  { why: 'complete is an earlier spec', status: { phase: 'Complete', observedGeneration: 1 }, code: undefined },
  { why: 'it has failed', status: { phase: 'Failed' }, code: 1 },
  { why: 'it has stopped after failures', status: { phase: 'Paused', stopped: 'Failures' }, code: 1 },
  { why: 'somebody paused it', status: { phase: 'Paused' }, code: undefined },
];
test('a watch ends with 0 where a rollout is complete, with 1 where it failed, and goes on otherwise', () => {
  for (const { why, status, code } of ends) assert.equal(exitOf(web(status))?.code, code, why);
});
