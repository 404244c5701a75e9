import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { assignedAndTrusted, kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { tempDir } from '../../../support/temp-dir.ts';

type Report = { passed: boolean; steps: { step: string; expected: string; seen: string; ms: number; passed: boolean }[] };

/** Every file below `dir`: its content, and when it was last written. */
async function fingerprint(dir: string): Promise<string[]> {
  const lines = (await readdir(dir, { recursive: true })).toSorted().map(async (name) => {
    const at = await stat(join(dir, name));
    return `${name} ${at.isFile() ? await readFile(join(dir, name), 'base64') : 'dir'} ${at.mtimeMs} ${at.ino}`;
  });
  return Promise.all(lines);
}

test('a drill rehearses every fall back on copies, touches nothing, and removes what a killed one left', async (t) => {
  const { dkcIn, root } = await assignedAndTrusted(t, { policy: 'none' });
  const before = await fingerprint(root);
  // Other tests leave and take away things in the usual one.
  const [scratch, usual] = [await tempDir(t), process.env['TMPDIR']];
  t.after(async () => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  });
  process.env['TMPDIR'] = scratch;
  // Of a killed one; and of one that lives, has just begun, is somebody else's or of anybody's, or no directory at all.
  const isRoot = process.getuid?.() === 0;
  const drills = ['alive', ...(isRoot ? ['foreign'] : []), 'link', 'open', 'young'];
  const kept = [...drills.map((name) => `dkc-drill-${name}`), 'dkc-other'];
  const locks = memoryLocks();
  for (const name of ['dkc-drill-killed', ...kept.filter((one) => !/link|open/.test(one))])
    await mkdir(join(scratch, name, '1'), { recursive: true, mode: 0o700 });
  if (isRoot) await chown(join(scratch, 'dkc-drill-foreign'), 1, 1);
  await utimes(join(scratch, 'dkc-drill-young'), Date.now() / 1000, Date.now() / 1000 + 30);
  await mkdir(join(scratch, 'dkc-drill-open'), { mode: 0o755 });
  await symlink(root, join(scratch, 'dkc-drill-link'));
  await locks.take(join(scratch, 'dkc-drill-alive', 'lock'), 0);
  const clock = { ...realClock, now: () => Date.now() + 61_000 };
  // Where anybody may put another directory in the place of one, none is removed.
  await chmod(scratch, 0o777);
  await dkcIn({ locks, clock }, 'drill');
  assert.deepEqual((await readdir(scratch)).toSorted(), [...kept, 'dkc-drill-killed'].toSorted());
  await chmod(scratch, 0o1777);
  const ran = await dkcIn({ locks, clock }, 'drill', '-o', 'json');
  const report = JSON.parse(ran.stdout) as Report;
  const steps = report.steps.map(({ expected, seen, passed }) => `${expected} ${seen} ${passed}`);
  const lkg = 'last-known-good last-known-good true';
  assert.deepEqual(steps, ['assigned assigned true', lkg, lkg, 'local local true', lkg]);
  assert.deepEqual([ran.code, report.passed, ran.stderr], [0, true, '']);
  assert.deepEqual(await fingerprint(root), before);
  assert.deepEqual((await readdir(scratch)).toSorted(), kept);
});

test('without a local config a drill fails in that alone: every step still ends with a usable file, and what /run holds stays', async (t) => {
  const { dkc, localConfig, root } = await nodeOnDisk(t, { kubeletUnit: 'kubelet.service', kubeletVersion: '"1.30"' });
  await writeFile(join(root, 'kubelet.yaml'), kubeletYaml(77));
  const inRun = join(dirname(root), 'kubelet.yaml');
  await writeFile(join(dirname(root), 'kubelet.env'), '');
  await writeFile(inRun, kubeletYaml(78));
  await rm(localConfig);
  const ran = await dkc('drill', '-o', 'json');
  const steps = (JSON.parse(ran.stdout) as Report).steps.map(({ step, seen, passed }) => `${step}: ${seen.split(';')[0]}: ${passed}`);
  assert.deepEqual(steps.slice(0, -1), ['boot with the store as it is: local: true', 'record of the assigned config damaged: local: true']);
  assert.match(steps.at(-1) ?? '', /^local config, the last fallback: there is no local config.*: false$/);
  assert.deepEqual([ran.code, await readFile(inRun, 'utf8')], [1, kubeletYaml(78)]);
  const verified = await dkc('checkpoints', 'verify', '-o', 'json');
  assert.deepEqual([verified.code, (JSON.parse(verified.stdout) as { path: string }[])[0]?.path], [1, localConfig]);
});

test('a live drill on a node whose agent follows passes', async (t) => {
  const node = await assignedAndTrusted(t, { policy: 'none' });
  const { trusted, assigned, store, paths } = node;
  const locks = memoryLocks();
  await locks.take(paths.agentLock, 0);
  await writeFile(paths.agentLock, '');
  // Stands in for the agent: looks at the condemnations whenever the drill waits.
  const sleep = async (): Promise<void> => {
    const condemned = (await store.condemned()).length > 0;
    await (condemned ? node.runs('last-known-good', trusted) : node.runs('assigned', assigned));
  };
  let at = 0;
  const clock = { now: () => node.now(), monotonic: () => (at += 100), sleep, after: () => () => {} };
  const ran = await node.dkcIn({ locks, clock }, 'drill', '--live', '--yes', '-o', 'json');
  assert.equal(ran.code, 0, ran.stdout);
  const seen = (JSON.parse(ran.stdout) as Report).steps.map((step) => step.seen);
  assert.deepEqual(seen, ['last-known-good', 'last-known-good', 'assigned', 'assigned']);
  assert.match(ran.stderr, /fall back: waiting for the node to use last-known-good .*\n.*the condemnation is cleared\n.*return: waiting for the node to use assigned/); // prettier-ignore
});
