import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseKubeletVersion, withDropIns } from '../../../../agent/config/config.ts';
import { configDirOf, MAX_DROP_INS } from '../../../../agent/config/overlay.ts';
import { explainFields } from '../../../../agent/config/policy/explain.ts';
import { readDropIns } from '../../../../agent/evaluate/node-inputs.ts';
import { realDisk } from '../../../../base/disk.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const version = parseKubeletVersion('1.36');

async function directory(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dkc-drop-ins-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text === '' ? '' : KIND + text);
  }
  return dir;
}

const read = (dir: string, minor = version) => readDropIns(realDisk, { args: [`--config-dir=${dir}`], version: minor });

const flags: { why: string; args: string[]; minor?: string; dir: string | undefined }[] = [
  { why: 'none', args: ['--config=/a'], dir: undefined },
  { why: 'one word', args: ['--config-dir=/a', '--v=2'], dir: '/a' },
  { why: 'two words', args: ['--config-dir', '/a'], dir: '/a' },
  { why: 'an underscore', args: ['--config_dir=/a'], dir: '/a' },
  { why: 'twice', args: ['--config-dir=/a', '--config-dir=/b'], dir: '/b' },
  { why: 'empty', args: ['--config-dir='], dir: undefined },
  { why: 'a kubelet that has no such flag', args: ['--config-dir=/a'], minor: '1.27', dir: undefined },
];
for (const { why, args, minor = '1.36', dir } of flags)
  test(`the directory of drop-ins, ${why}`, () => assert.equal(configDirOf(args, parseKubeletVersion(minor)), dir));

test('drop-ins are merged in lexical order through directories, and other names are none', async (t) => {
  const dir = await directory(t, {
    '20.conf': 'maxPods: 20\npodsPerCore: 2\n',
    '10.conf': 'maxPods: 10\nclusterDNS: [10.0.0.1]\nevictionHard: {memory.available: 1Gi}\n',
    '15-more/z.conf': 'maxPods: 15\nclusterDNS: [10.0.0.2]\nauthentication: {anonymous: {enabled: true}}\n',
    'readme.txt': 'maxPods: 1\n',
    '99.conf.bak': 'maxPods: 2\n',
  });
  await symlink('20.conf', join(dir, '30.conf'));
  const dropIns = await read(dir);
  assert.deepEqual(dropIns?.problems, []);
  assert.deepEqual(
    dropIns?.files.map(({ path }) => path.slice(dir.length + 1)),
    ['10.conf', '15-more/z.conf', '20.conf', '30.conf'],
  );
  const merged = withDropIns({ ...TYPE, podsPerCore: 7, authentication: { webhook: { enabled: false } } }, dropIns, version);
  assert.deepEqual(merged, {
    ...TYPE,
    podsPerCore: 2,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    evictionHard: {
      'memory.available': '1Gi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    },
    maxPods: 20,
    clusterDNS: ['10.0.0.2'],
  });
  const explained = explainFields({
    local: { ...TYPE, maxPods: 5 },
    dynamic: null,
    merge: 'replace',
    args: [],
    version,
    ...(dropIns ? { dropIns } : {}),
  });
  const of = (name: string) => explained.find(({ field }) => field === name);
  assert.deepEqual([of('maxPods')?.value, of('maxPods')?.origin, of('maxPods')?.file], [20, 'drop-in', join(dir, '30.conf')]);
  assert.deepEqual([of('port')?.origin, of('port')?.file], ['default', undefined]);
});

const problems: { why: string; files: Record<string, string>; says: RegExp }[] = [
  { why: 'a field of the wrong type', files: { 'a.conf': 'maxPods: many\n', 'b.conf': 'podsPerCore: 1\n' }, says: /a\.conf keeps the kubelet from starting: maxPods must be/ },
  { why: 'an empty file', files: { 'a.conf': '' }, says: /a\.conf keeps the kubelet from starting: the text is empty/ },
  { why: 'more files than are read', files: Object.fromEntries(Array.from({ length: MAX_DROP_INS + 1 }, (_, n) => [`${n}.conf`, ' '])), says: /the agent reads 100 drop-ins/ },
]; // prettier-ignore
for (const { why, files, says } of problems)
  test(`a drop-in that cannot be used is a finding that names it: ${why}`, async (t) => {
    const dropIns = await read(await directory(t, files));
    assert.equal(dropIns?.problems.length, 1);
    assert.match(dropIns?.problems[0]?.message ?? '', says);
  });

test('a directory that is not there is a finding', async () => {
  const dropIns = await read('/nowhere/kubelet.conf.d');
  assert.match(dropIns?.problems[0]?.message ?? '', /^drop-in \/nowhere\/kubelet\.conf\.d keeps the kubelet from starting: .*ENOENT/);
});
