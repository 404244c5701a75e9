import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CheckpointGC } from '../../../../agent/store/checkpoint-gc.ts';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { payload, source } from '../../../support/builders.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { MaybeSource } from '../../../../agent/checkpoint/source.ts';

const ROOT = '/var/lib/dkc';
const EFFECTIVE = `${ROOT}/kubelet.yaml`;

/** A node with checkpoints web@1 to web@6, newest last, and a collector on it that has not begun. */
async function collecting(
  t: TestContext,
  given: {
    keep: number;
    assigned?: MaybeSource;
    trusted?: MaybeSource;
    active?: MaybeSource;
    effective?: string;
    assignedLost?: true;
  },
) {
  const clock = new FakeClock();
  const fs = new CrashDisk();
  const disk = fs.disk();
  const store = new FsStore({ disk, locks: memoryLocks(), root: ROOT, clock });
  await store.initialize();
  for (let n = 1; n <= 6; n++) {
    await store.save(payload(source(`web@${n}`), { kubelet: `maxPods: ${n}` }));
    await clock.advance(1000);
  }
  const { assigned = null, trusted = null, active = null, effective } = given;
  await store.setRecord('assigned', assigned);
  await store.setRecord('last-known-good', trusted);
  if (given.assignedLost) await disk.remove(store.paths.meta('assigned'));
  if (effective !== undefined) await disk.replace(EFFECTIVE, new TextEncoder().encode(effective));
  const configState = new NodeConfigState({
    used: active ? 'assigned' : 'local',
    source: active,
    assigned,
    assignedKnown: !given.assignedLost,
    lastKnownGood: trusted,
    error: null,
    effective: { path: EFFECTIVE, sha256: 'abc', changed: false, usable: true },
  });
  const { log, lines, fields } = recordedLog();
  const options = { effectiveConfig: EFFECTIVE, keepCheckpoints: given.keep };
  const checkpointGc = new CheckpointGC({ options, disk, log, store, configState });
  const end = new AbortController();
  let running = Promise.resolve();
  t.after(async () => {
    end.abort();
    await running;
  });
  const left = async (): Promise<string> => {
    await clock.advance(0);
    const entries = await store.list();
    return entries.map(({ ref }) => ref.resourceVersion).join(' ');
  };
  const run = (): Promise<string> => {
    running = checkpointGc.run(end.signal);
    return left();
  };
  return { checkpointGc, store, configState, run, left, lines, fields };
}

test('after a start everything goes that has no role and is not among the newest', async (t) => {
  const { run, lines, fields } = await collecting(t, {
    keep: 1,
    assigned: source('web@5'),
    trusted: source('web@2'),
    active: source('web@3'),
    effective: `clientCAFile: ${ROOT}/store/checkpoints/u-web/1/ca.pem\n`,
  });
  assert.equal(await run(), '6 5 3 2 1');
  assert.deepEqual(lines, ['info: old checkpoint removed']);
  assert.deepEqual(fields, [{ uid: 'u-web', resourceVersion: '4' }]);
});

test('nothing goes while the assigned one is not known', async (t) => {
  const { run, lines } = await collecting(t, { keep: 0, assignedLost: true });
  assert.equal(await run(), '6 5 4 3 2 1');
  assert.deepEqual(lines, []);
});

test('a new checkpoint pushes an old one out, a change of roles lets one go', async (t) => {
  const { run, left, checkpointGc, store, configState } = await collecting(t, {
    keep: 1,
    assigned: source('web@6'),
    trusted: source('web@2'),
  });
  assert.equal(await run(), '6 5 2');
  await store.save(payload(source('web@7'), { kubelet: 'maxPods: 7' }));
  assert.equal(await left(), '7 6 5 2', 'nobody said so yet');
  checkpointGc.notify();
  assert.equal(await left(), '7 6 2');
  await store.setRecord('last-known-good', source('web@6'));
  configState.update({ lastKnownGood: source('web@6') });
  assert.equal(await left(), '7 6');
});
