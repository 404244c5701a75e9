import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaybeSource } from '../../../../agent/checkpoint/source.ts';
import { planPrune, refersTo } from '../../../../agent/store/prune.ts';
import { CheckpointGC } from '../../../../agent/store/checkpoint-gc.ts';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { payload, source } from '../../../support/builders.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

// Checkpoints are written as resource versions of one ConfigMap, newest first.
function version(rv: string | undefined): MaybeSource {
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
    const roles = { assigned: version(assigned), lastKnownGood: version(lkg), active: version(active) };
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

const ROOT = '/var/lib/dkc';
const EFFECTIVE = `${ROOT}/kubelet.yaml`;

/** What is left on a node with checkpoints web@1 to web@6 and these roles once a collector has run. */
async function collected({ keep, assigned = null, trusted = null, active = null, effective, assignedLost = false }: Given) {
  const [clock, disk] = [new FakeClock(), new CrashDisk().disk()];
  const store = new FsStore({ disk, locks: memoryLocks(), root: ROOT, clock });
  await store.initialize();
  for (let n = 1; n <= 6; n++) {
    await store.save(payload(source(`web@${n}`), { kubelet: `maxPods: ${n}` }));
    await clock.advance(1000);
  }
  await store.setRecord('assigned', assigned);
  await store.setRecord('last-known-good', trusted);
  if (assignedLost) await disk.remove(store.paths.meta('assigned'));
  if (effective !== undefined) await disk.replace(EFFECTIVE, new TextEncoder().encode(effective));
  const file = { path: EFFECTIVE, sha256: 'abc', changed: false, usable: true };
  const roles = { source: active, assigned, assignedKnown: !assignedLost, lastKnownGood: trusted };
  const configState = new NodeConfigState({ used: active ? 'assigned' : 'local', ...roles, error: null, effective: file });
  const { log, lines } = recordedLog();
  const options = { effectiveConfig: EFFECTIVE, keepCheckpoints: keep };
  const end = new AbortController();
  const running = new CheckpointGC({ options, disk, log, store, configState }).run(end.signal);
  await clock.advance(0);
  end.abort();
  await running;
  return { left: (await store.list()).map(({ ref }) => ref.resourceVersion).join(' '), lines };
}
interface Given {
  keep: number;
  assigned?: MaybeSource;
  trusted?: MaybeSource;
  active?: MaybeSource;
  effective?: string;
  assignedLost?: boolean;
}

test('after a start everything goes that has no role and is not among the newest', async () => {
  const roles = { assigned: source('web@5'), trusted: source('web@2'), active: source('web@3') };
  const effective = `clientCAFile: ${ROOT}/store/checkpoints/u-web/1/ca.pem\n`;
  assert.deepEqual(await collected({ keep: 1, ...roles, effective }), { left: '6 5 3 2 1', lines: ['info: old checkpoint removed'] });
});

test('nothing goes while the assigned one is not known', async () => {
  assert.deepEqual(await collected({ keep: 0, assignedLost: true }), { left: '6 5 4 3 2 1', lines: [] });
});
