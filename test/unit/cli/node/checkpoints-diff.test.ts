import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function withVersions(t: TestContext) {
  const node = await nodeOnDisk(t);
  const first = await node.save('1', { files: { kubelet: kubeletYaml(110), 'ca.pem': 'one\ntwo\n', gone: 'x' } });
  const second = await node.save('2', { files: { kubelet: `${head}maxPods: 50\nreadOnlyPort: 10255\n`, 'ca.pem': 'one\nthree\n' } });
  const sameAsFirst = await node.save('3', {
    files: {
      kubelet: `{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1"}`,
      'ca.pem': 'one\ntwo\n',
      gone: 'x',
    },
  });
  await node.trust(first);
  await node.assign(second);
  await node.runs('assigned', second);
  return { ...node, first, second, sameAsFirst };
}

interface Row {
  field: string;
  class: string | null;
  from: unknown;
  to: unknown;
}

test('checkpoints diff says field by field what differs, with B active by default', async (t) => {
  const { dkc } = await withVersions(t);
  const ran = await dkc('checkpoints', 'diff', 'last-known-good', '-o', 'json');
  assert.equal(ran.code, 1);
  assert.deepEqual(
    (JSON.parse(ran.stdout) as Row[]).map((row) => [row.field, row.from, row.to]),
    [
      ['readOnlyPort', null, 10255],
      ['maxPods', 110, 50],
      ['file:ca.pem', 'one\ntwo\n', 'one\nthree\n'],
      ['file:gone', 'x', null],
    ],
  );
  assert.equal(ran.stderr, 'dkc: last-known-good and active differ in 2 fields and 2 other files\n');
});

test('people get a table and unified diffs of the other files', async (t) => {
  const { dkc } = await withVersions(t);
  const { stdout } = await dkc('checkpoints', 'diff', 'last-known-good', 'assigned');
  assert.match(stdout, /^FIELD +CLASS +last-known-good +assigned\n/);
  assert.match(stdout, /\nmaxPods +\S+ +110 +50\n/);
  assert.match(stdout, /--- last-known-good\/ca\.pem\n\+\+\+ assigned\/ca\.pem\n@@ -1,2 \+1,2 @@\n one\n-two\n\+three\n/);
  assert.match(stdout, /--- last-known-good\/gone\n\+\+\+ \/dev\/null\n/);
});

test('REFs stand over their columns as they were typed', async (t) => {
  const { dkc, first } = await withVersions(t);
  const { stdout } = await dkc('checkpoints', 'diff', `${first.uid}/1`, 'assigned');
  assert.ok(stdout.split('\n')[0]?.includes(` ${first.uid}/1 `), stdout);
});

test('spelling, order and defaults written out make no difference', async (t) => {
  const { dkc, sameAsFirst } = await withVersions(t);
  const ran = await dkc('checkpoints', 'diff', `${sameAsFirst.uid}/3`, 'last-known-good');
  assert.deepEqual([ran.code, ran.stdout.endsWith(' are equivalent.\n')], [0, true]);
});

test('a role that is the local config compares with that file, or with all defaults', async (t) => {
  const node = await withVersions(t);
  await node.trust(null);
  const diff = async () =>
    (JSON.parse((await node.dkc('checkpoints', 'diff', 'last-known-good', '-o', 'json')).stdout) as Row[]).map((row) => row.from);
  await writeFile(node.localConfig, kubeletYaml(77));
  assert.ok((await diff()).includes(77));
  await rm(node.localConfig);
  assert.ok((await diff()).includes(110));
});

test('relative paths of two checkpoints are not told apart by their directories, but from those of the local config', async (t) => {
  const node = await withVersions(t);
  const relative = `${head}tlsCertFile: ca.pem\n`;
  const [a, b] = [
    await node.save('5', { files: { kubelet: relative, 'ca.pem': 'x' } }),
    await node.save('6', { files: { kubelet: relative, 'ca.pem': 'x' } }),
  ];
  assert.equal((await node.dkc('checkpoints', 'diff', `${a.uid}/5`, `${b.uid}/6`)).code, 0);
  await writeFile(node.localConfig, relative);
  await node.trust(null);
  const ran = await node.dkc('checkpoints', 'diff', `${a.uid}/5`, 'last-known-good', '-o', 'json');
  const cert = (JSON.parse(ran.stdout) as Row[]).find((row) => row.field === 'tlsCertFile');
  assert.equal(cert?.from, node.paths.file(a, 'ca.pem'));
});

const failing = [
  { why: 'without a REF', argv: [], code: 2, says: /OLD is missing/ },
  { why: 'with a REF that names nothing', argv: ['zz'], code: 3, says: /no checkpoint has that name/ },
  {
    why: 'with a key that is not there',
    argv: ['assigned', '--key=nope'],
    code: 1,
    says: /assigned has no key "nope"; its keys are ca\.pem, kubelet/,
  },
];
for (const { why, argv, code, says } of failing) {
  test(`checkpoints diff ${why} ends with ${code}`, async (t) => {
    const { dkc } = await withVersions(t);
    const ran = await dkc('checkpoints', 'diff', ...argv);
    assert.deepEqual([ran.code, ran.stdout], [code, '']);
    assert.match(ran.stderr, says);
  });
}

test('what does not decode is found wrong, without its values', async (t) => {
  const { dkc, save } = await withVersions(t);
  const bad = await save('8', { files: { kubelet: `${head}maxPods: secret\n` } });
  const ran = await dkc('checkpoints', 'diff', `${bad.uid}/8`);
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /\/8 is not a kubelet configuration: /);
  assert.ok(!ran.stderr.includes('secret'));
});

test('a checkpoint of several keys and no record needs --key', async (t) => {
  const { dkc, save } = await withVersions(t);
  const two = await save('9', { files: { a: kubeletYaml(1), b: kubeletYaml(2) } });
  const ran = await dkc('checkpoints', 'diff', `${two.uid}/9`, 'assigned');
  assert.equal(ran.code, 2);
  assert.match(ran.stderr, /set --key to one of a, b/);
});
