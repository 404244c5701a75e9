import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseKubeletVersion, withDropIns } from '../../../../agent/config/config.ts';
import type { Json, JsonObject } from '../../../../agent/config/contract.ts';
import { explainFields } from '../../../../agent/config/policy/explain.ts';
import { readDropIns } from '../../../../agent/evaluate/node-inputs.ts';
import { realDisk } from '../../../../base/disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const version = parseKubeletVersion('1.36');

const EVICTION = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' }; // prettier-ignore

async function directory(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await tempDir(t);
  await mkdir(join(dir, '15-more'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), KIND + text);
  return dir;
}

const read = (dir: string) => readDropIns(realDisk, { args: [`--config-dir=${dir}`], version });

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
  const names = dropIns?.files.map(({ path }) => path.slice(dir.length + 1));
  assert.deepEqual(names, ['10.conf', '15-more/z.conf', '20.conf', '30.conf']);
  const base = { ...TYPE, podsPerCore: 7, authentication: { webhook: { enabled: false } } };
  const { podsPerCore, authentication, evictionHard, maxPods, clusterDNS } = withDropIns(base, dropIns, { args: [], version });
  assert.deepEqual([podsPerCore, maxPods, clusterDNS], [2, 20, ['10.0.0.2']]);
  assert.deepEqual(authentication, { x509: {}, webhook: { enabled: false, cacheTTL: '2m0s' }, anonymous: { enabled: true } });
  assert.deepEqual(evictionHard, { ...EVICTION, 'memory.available': '1Gi' });
});

// As /configz of a kubelet 1.36.3 shows them.
const merges: { why: string; base: JsonObject; text: string; gives: Record<string, Json> }[] = [
  { why: 'a default that follows the file, not the drop-in', base: { nodeStatusUpdateFrequency: '7s' }, text: 'nodeStatusUpdateFrequency: 20s', gives: { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '7s' } },
  { why: 'pulls that are in parallel by the drop-in alone, which such a kubelet refuses', base: {}, text: 'maxParallelImagePulls: 5', gives: { serializeImagePulls: true } },
  { why: 'thresholds with the defaults for those that are not set', base: { mergeDefaultEvictionSettings: true, evictionHard: { 'memory.available': '1Gi' } }, text: 'evictionHard: {nodefs.available: 3%}', gives: { evictionHard: { ...EVICTION, 'memory.available': '1Gi', 'nodefs.available': '3%' } } },
]; // prettier-ignore
for (const { why, base, text, gives } of merges)
  test(`a drop-in on the kubelet's file gives ${why}`, async (t) => {
    const dropIns = await read(await directory(t, { '10.conf': text }));
    assert.ok(dropIns);
    const explained = explainFields({ local: { ...TYPE, ...base }, dynamic: null, merge: 'replace', args: [], version, dropIns });
    const seen = Object.keys(gives).map((name) => [name, explained.find(({ field }) => field === name)?.value]);
    assert.deepEqual(Object.fromEntries(seen), gives);
  });

test('a drop-in that cannot be used is a finding that names it', async (t) => {
  const dropIns = await read(await directory(t, { 'a.conf': 'maxPods: many\n', 'b.conf': 'podsPerCore: 1\n' }));
  assert.equal(dropIns?.problems.length, 1);
  assert.match(dropIns?.problems[0]?.message ?? '', /a\.conf keeps the kubelet from starting: maxPods must be/);
});
