import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaybeSource } from '../../../../agent/checkpoint/source.ts';
import { planPrune, refersTo } from '../../../../agent/store/prune.ts';

// Checkpoints are written as resource versions of one ConfigMap, newest first.
function source(rv: string | undefined): MaybeSource {
  if (rv === undefined) return null;
  return { namespace: 'ns', name: 'web', uid: 'u1', resourceVersion: rv, kubeletConfigKey: 'kubelet' };
}

/** Versions with a role, what the effective file says, and how many others are kept. */
type On = { assigned?: string; lkg?: string; active?: string; text?: string; keep: number; unknown?: true };
const cases: [why: string, stored: string, on: On, removed: string][] = [
  ['keeps the newest N others', '9 8 7 6', { keep: 2 }, '7 6'],
  ['keeps roles however old they are', '9 8 7 6 5', { assigned: '9', lkg: '6', active: '5', keep: 0 }, '8 7'],
  ['keeps what the effective file refers to', '9 8 7', { text: 'tlsCertFile: /d/checkpoints/u1/7/tls.crt', keep: 0 }, '9 8'],
  ['removes nothing while the assigned one is unknown', '9 8 7', { unknown: true, keep: 0 }, ''],
  ['finds nothing to do in an empty store', '', { keep: 5 }, ''],
];
for (const [why, stored, { assigned, lkg, active, text = '', keep, unknown }, removed] of cases)
  test(`prune ${why}`, () => {
    const versions = stored.split(' ').filter(Boolean);
    const entries = versions.map((resourceVersion) => ({ ref: { uid: 'u1', resourceVersion }, state: 'intact' as const }));
    const roles = { assigned: source(assigned), lastKnownGood: source(lkg), active: source(active) };
    const decisions = planPrune({ entries, assignedKnown: !unknown, ...roles, effectiveText: text, keep });
    const gone = decisions.filter((one) => one.kept === undefined).map((one) => one.entry.ref.resourceVersion);
    assert.equal(gone.join(' '), removed);
    assert.ok(decisions.every((one, at) => one.entry === entries[at]) && decisions.length === entries.length);
  });

test('a reference may end the text, or be followed by anything that cannot continue a version', () => {
  const ref = { uid: 'u', resourceVersion: '1' };
  for (const text of ['/x/u/1', 'p: /x/u/1\n', '"/x/u/1"', '/x/u/1/ca.pem', '/u/12 /u/1/a']) assert.ok(refersTo(text, ref), text);
  for (const text of ['', '/x/u/12', '/x/u/1a/ca', '/x/au/1/ca', '/x/u/1.5/ca']) assert.ok(!refersTo(text, ref), text);
});
