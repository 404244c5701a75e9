import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaybeSource } from '../../../../agent/checkpoint/source.ts';
import { planPrune, refersTo } from '../../../../agent/store/prune.ts';

// Checkpoints are written as resource versions of one ConfigMap, newest first.
function source(rv: string | undefined): MaybeSource {
  if (rv === undefined) return null;
  return { namespace: 'ns', name: 'web', uid: 'u1', resourceVersion: rv, kubeletConfigKey: 'kubelet' };
}

interface Case {
  why: string;
  stored: string;
  assigned?: string;
  lkg?: string;
  active?: string;
  text?: string;
  keep: number;
  unknown?: true;
  removed: string;
}

const cases: Case[] = [
  { why: 'keeps the newest N others', stored: '9 8 7 6', keep: 2, removed: '7 6' },
  { why: 'keeps roles however old they are', stored: '9 8 7 6 5', assigned: '9', lkg: '6', active: '5', keep: 0, removed: '8 7' },
  { why: 'does not count a role as one of the others', stored: '9 8 7 6', assigned: '9', keep: 2, removed: '6' },
  {
    why: 'keeps what the effective file refers to',
    stored: '9 8 7',
    text: 'tlsCertFile: /d/checkpoints/u1/7/tls.crt',
    keep: 0,
    removed: '9 8',
  },
  { why: 'is not fooled by a longer version', stored: '12 1', text: 'a: /d/u1/12/ca', keep: 0, removed: '1' },
  { why: 'removes nothing while the assigned one is unknown', stored: '9 8 7', unknown: true, keep: 0, removed: '' },
  { why: 'finds nothing to do in an empty store', stored: '', keep: 5, removed: '' },
];

for (const c of cases) {
  test(`prune ${c.why}`, () => {
    const entries = c.stored
      .split(' ')
      .filter(Boolean)
      .map((resourceVersion) => ({ ref: { uid: 'u1', resourceVersion }, state: 'intact' as const }));
    const decisions = planPrune({
      entries,
      assignedKnown: !c.unknown,
      assigned: source(c.assigned),
      lastKnownGood: source(c.lkg),
      active: source(c.active),
      effectiveText: c.text ?? '',
      keep: c.keep,
    });
    const removed = decisions.filter((one) => one.kept === undefined).map((one) => one.entry.ref.resourceVersion);
    assert.deepEqual(removed.join(' '), c.removed);
    assert.deepEqual(
      decisions.map((one) => one.entry),
      entries,
    );
  });
}

test('a reference may end the text, or be followed by anything that cannot continue a version', () => {
  const ref = { uid: 'u', resourceVersion: '1' };
  for (const text of ['/x/u/1', 'p: /x/u/1\n', '"/x/u/1"', '/x/u/1/ca.pem', '/u/12 /u/1/a']) assert.ok(refersTo(text, ref), text);
  for (const text of ['', '/x/u/12', '/x/u/1a/ca', '/x/au/1/ca', '/x/u/1.5/ca']) assert.ok(!refersTo(text, ref), text);
});
