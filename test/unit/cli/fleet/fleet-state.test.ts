import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../../cli/failure.ts';
import { nodeNames } from '../../../../cli/fleet/node-names.ts';
import { stateText } from '../../../../cli/fleet/node-view.ts';
import type { FleetNode } from '../../../../controllers/fleet/fleet-node.ts';

const source = (name: string) => ({ namespace: 'dkc-system', name, uid: `uid-${name}`, resourceVersion: '1', kubeletConfigKey: 'kubelet' });
const web = source('web');
const node: FleetNode = { node: 'a', carrier: 'node', wanted: web, reports: true, agent: null, assigned: web, active: web, lastKnownGood: source('old'), error: null, ready: true, kubeletVersion: 'v1.30.0' }; // prettier-ignore

const now = Date.parse('2026-03-01T00:00:00Z');
test('a trial reads with the time that is left, where that is known', () => {
  const texts = [now + 492_000, now - 5, null].map((endsAtMs) => stateText({ ...node, agent: { version: '', trial: { endsAtMs } } }, now));
  assert.deepEqual(texts, ['trial (8m12s left)', 'trial', 'trial']);
});

test('names may be written as kubectl writes them, in lists, and count once', () =>
  assert.deepEqual(nodeNames('assign', ['node/a', 'nodes/b,no/c', 'b', 'a']), ['a', 'b', 'c']));

const bad = [
  { word: 'pool/worker-1', says: 'invalid node name "pool/worker-1": must not contain "/" (use "worker-1")' },
  { word: 'a,,b', says: 'must not be empty' },
  { word: 'Worker', says: 'must be lower case letters' },
  { word: 'a'.repeat(254), says: 'must not be longer than 253 characters' },
];
for (const { word, says } of bad)
  test(`no node is called ${JSON.stringify(word.slice(0, 20))}`, () =>
    assert.throws(() => nodeNames('assign', [word]), (error: Error) => error instanceof UsageError && error.message.includes(says))); // prettier-ignore
