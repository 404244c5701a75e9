import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOfNode, nodeWord } from '../../../../agent/trial/node-signals.ts';

/** Of this minute: the trial began at 10.5 s, the kubelet started at 12.7 s, and it is 40 s now. */
const at = (second: number): string => `2026-03-01T00:00:${String(second).padStart(2, '0')}Z`;
const ms = (second: number): number => Date.parse(at(0)) + second * 1000;
const times = { trialAt: ms(10.5), kubeletAt: ms(12.7), now: ms(40) };

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
const cases = [
  { why: 'Ready, with a heartbeat in the second in which it started', node: ready('True', { heartbeat: 12 }), is: true },
  { why: 'Ready, with a heartbeat of the kubelet before', node: ready('True', { heartbeat: 11 }), is: false },
  { why: 'Ready, with an old heartbeat and a Lease that this kubelet renewed', node: ready('True', { heartbeat: 11 }), renewedAt: ms(13), is: true },
  { why: 'Ready, with an old heartbeat and an old Lease', node: ready('True', { heartbeat: 11 }), renewedAt: ms(11.9), is: false },
  { why: 'not Ready since the change', node: ready('False', { since: 15 }), is: false },
  { why: 'not Ready since before the change', node: ready('False', { since: 9 }), is: undefined },
  { why: 'unknown since the change', node: ready('Unknown', { since: 30 }), is: false },
  { why: 'not Ready since nobody knows when', node: ready('False', { since: 99 }), is: undefined },
  { why: 'full of nothing', node: { metadata: { name: 'node-a' }, status: { conditions: [null, 7, { type: 'Ready' }] } }, is: undefined },
] as const;

for (const { why, node, is, ...lease } of cases)
  test(`a Node that is ${why} says ${is === undefined ? 'nothing' : is ? 'well' : 'badly'}`, () => {
    const word = nodeWord(node);
    assert.equal(healthOfNode({ ...word, ...lease }, times)?.healthy, is);
  });

test('with a clock that was set back after the start of the kubelet, an old heartbeat is no evidence', () => {
  const word = nodeWord(ready('True', { heartbeat: 5 }));
  assert.equal(healthOfNode(word, { ...times, now: ms(11) })?.healthy, true);
});

test('what a condition says is evidence, and bounded', () => {
  const node = ready('False', { since: 15 });
  Object.assign(node.status.conditions[1] ?? {}, { message: 'x'.repeat(1_000_000) });
  const detail = healthOfNode(nodeWord(node), times)?.detail ?? '';
  assert.match(detail, /^Node is not Ready: KubeletNotReady: x+$/);
  assert.ok(detail.length < 400);
});
