import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { assignedAndTrusted, kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { tempDir } from '../../../support/temp-dir.ts';

interface Report {
  passed: boolean;
  steps: { step: string; expected: string; seen: string; ms: number; passed: boolean }[];
}

/** Every file below `dir`: its content, and when it was last written. */
async function fingerprint(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true });
  const lines = names.toSorted().map(async (name) => {
    const at = await stat(join(dir, name));
    const sum = at.isFile()
      ? createHash('sha256')
          .update(await readFile(join(dir, name)))
          .digest('hex')
      : 'dir';
    return `${name} ${sum} ${at.mtimeMs} ${at.ino}`;
  });
  return Promise.all(lines);
}

test('a drill rehearses every fall back on copies, and touches nothing', async (t) => {
  const { dkc, root } = await assignedAndTrusted(t, { policy: 'none' });
  const before = await fingerprint(root);
  // Other tests leave and take away things in the usual one.
  const [scratch, usual] = [await tempDir(t), process.env['TMPDIR']];
  t.after(async () => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  });
  process.env['TMPDIR'] = scratch;
  const ran = await dkc('drill', '-o', 'json');
  const report = JSON.parse(ran.stdout) as Report;
  assert.deepEqual(
    report.steps.map((step) => [step.expected, step.seen, step.passed]),
    [
      ['assigned', 'assigned', true],
      ['last-known-good', 'last-known-good', true],
      ['last-known-good', 'last-known-good', true],
      ['local', 'local', true],
      ['last-known-good', 'last-known-good', true],
    ],
  );
  assert.deepEqual([ran.code, report.passed, ran.stderr], [0, true, '']);
  assert.deepEqual(await fingerprint(root), before);
  assert.deepEqual(await readdir(scratch), []);
});

test('a drill finds an assigned config that boot cannot use', async (t) => {
  const { dkc, save, assign } = await assignedAndTrusted(t, { policy: 'none' });
  await assign(await save('3', { files: { kubelet: 'kind: Nonsense\n' } }));
  const ran = await dkc('drill', '-o', 'json');
  const [first] = (JSON.parse(ran.stdout) as Report).steps;
  assert.deepEqual([ran.code, first?.expected, first?.seen, first?.passed], [1, 'assigned', 'last-known-good', false]);
  assert.equal(ran.stderr, 'dkc: 1 of 5 drill steps failed\n');
});

test('a drill works on a store of an upstream kubelet, which has no manifests', async (t) => {
  const { dkc, paths, trusted, assigned } = await assignedAndTrusted(t, { policy: 'none' });
  for (const ref of [trusted, assigned]) await rm(paths.manifest(ref));
  const ran = await dkc('drill');
  assert.equal(ran.code, 0, ran.stdout);
  assert.match(ran.stdout, /assigned config condemned +last-known-good +last-known-good +\d+ ms +passed/);
  assert.match(ran.stdout, /\n\nPassed\.\n$/);
});

for (const [what, spoil] of [
  ['no local config', (path: string) => rm(path)],
  ['a local config that no kubelet can read', (path: string) => writeFile(path, 'a: [')],
] as const) {
  test(`with ${what} a drill fails in that alone: every step still ends with a usable file, and what /run holds stays`, async (t) => {
    const { dkc, localConfig, root } = await nodeOnDisk(t, { kubeletUnit: 'kubelet.service', kubeletVersion: '"1.30"' });
    await writeFile(join(root, 'kubelet.yaml'), kubeletYaml(77));
    const inRun = [join(dirname(root), 'kubelet.env'), join(dirname(root), 'kubelet.yaml')] as const;
    await writeFile(inRun[0], '');
    await writeFile(inRun[1], kubeletYaml(78));
    await spoil(localConfig);
    const ran = await dkc('drill', '-o', 'json');
    const steps = (JSON.parse(ran.stdout) as Report).steps.map(({ step, seen, passed }) => `${step}: ${seen.split(';')[0]}: ${passed}`);
    assert.deepEqual(steps.slice(0, -1), [
      'boot with the store as it is: local: true',
      'record of the assigned config damaged: local: true',
    ]);
    assert.match(
      steps.at(-1) ?? '',
      /^local config, the last fallback: (there is no local config|the local config .* cannot be used).*: false$/,
    );
    assert.equal(ran.code, 1);
    assert.equal(await readFile(inRun[1], 'utf8'), kubeletYaml(78));
    const verified = await dkc('checkpoints', 'verify', '-o', 'json');
    if (what === 'no local config')
      assert.deepEqual([verified.code, (JSON.parse(verified.stdout) as { path: string }[])[0]?.path], [1, localConfig]);
  });
}

test('a live drill needs --yes, and says what it would do', async (t) => {
  const { dkc, store } = await assignedAndTrusted(t, { policy: 'none' });
  const ran = await dkc('drill', '--live');
  assert.equal(ran.code, 2);
  assert.match(
    ran.stderr,
    /would condemn dkc-system\/web:kubelet@2, which restarts the kubelet with last-known-good .*; add --yes to do it/,
  );
  assert.equal((await dkc('drill', '--yes')).code, 2);
  assert.deepEqual(await store.condemned(), []);
});

test('a live drill needs an agent that runs and a kubelet that is healthy', async (t) => {
  const node = await assignedAndTrusted(t, { policy: 'none' });
  const idle = await node.dkc('drill', '--live', '--yes');
  assert.equal(idle.code, 3);
  assert.match(idle.stderr, /its agent is not running; start it/);

  const locks = memoryLocks();
  await locks.take(node.paths.agentLock, 0);
  await writeFile(node.paths.agentLock, '');
  const agentYaml = join(node.root, '..', 'agent.yaml');
  const text = await readFile(agentYaml, 'utf8');
  await writeFile(agentYaml, text.replace('kubeletHealthz: ""', 'kubeletHealthz: http://127.0.0.1:1/healthz'));
  const ill = await node.dkcIn({ locks }, 'drill', '--live', '--yes');
  assert.equal(ill.code, 1);
  assert.match(ill.stderr, /its kubelet is not healthy \(/);
  assert.deepEqual(await node.store.condemned(), []);
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
  assert.deepEqual(
    (JSON.parse(ran.stdout) as Report).steps.map((step) => step.seen),
    ['last-known-good', 'last-known-good', 'assigned', 'assigned'],
  );
  assert.match(
    ran.stderr,
    /fall back: waiting for the node to use last-known-good .*\n.*the condemnation is cleared\n.*return: waiting for the node to use assigned/,
  );
});
