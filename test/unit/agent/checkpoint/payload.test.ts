import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { contentRef, digestFiles, MAX_KEYS, payloadOf } from '../../../../agent/checkpoint/payload.ts';
import { filesOf } from '../../../support/builders.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const metadata = { namespace: 'dkc-system', name: 'web', uid: 'u-web', resourceVersion: '7' };
const configMap = (data: Record<string, string>, annotations: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...metadata, annotations },
  data,
});
const keys = (many: number): Record<string, string> => Object.fromEntries(Array.from({ length: many }, (_, n) => [`key-${n}`, '']));

const cases = [
  { why: 'as many keys as a checkpoint holds', of: configMap(keys(MAX_KEYS)), rule: undefined },
  { why: 'a key more', of: configMap(keys(MAX_KEYS + 1)), rule: 'too-many-keys' },
  { why: 'a MiB', of: configMap({ kubelet: 'x'.repeat(1 << 20) }), rule: undefined },
  { why: 'a byte more', of: configMap({ kubelet: 'x'.repeat(1 << 20), a: 'x' }), rule: 'too-large' },
  { why: 'more annotations than an API server takes', of: configMap({}, { 'dkc.dev/allow': 'x'.repeat(1 << 20) }), rule: 'too-large' },
];
for (const { why, of, rule } of cases)
  test(`a ConfigMap with ${why} is ${rule === undefined ? 'a payload' : `refused: ${rule}`}`, () => {
    const downloaded = payloadOf(of);
    assert.equal(downloaded.ok ? undefined : 'beyond' in downloaded && downloaded.beyond.rule, rule);
  });

// What no server should send, before anybody joins it into a path.
const kubelet = 'kind: KubeletConfiguration';
const unsafe: { why: string; data?: unknown; over?: object; says: RegExp }[] = [
  { why: 'a key that climbs', data: { kubelet, '../../../outside': 'x' }, says: /outside/ },
  { why: 'a key of our own', data: { kubelet, '..manifest.json': '{}' }, says: /manifest/ },
  { why: 'an empty key', data: { kubelet, '': 'x' }, says: /key/ },
  { why: 'a value that is no text', data: { kubelet: { maxPods: 50 } }, says: /data\["kubelet"\] of the ConfigMap is not a string/ },
  { why: 'data that is a list', data: [kubelet], says: /data of the ConfigMap is not a map/ },
  { why: 'a uid that climbs', over: { uid: '../../outside' }, says: /UID/ },
  { why: 'no uid', over: { uid: '' }, says: /non-empty UID/ },
  { why: 'no resourceVersion', over: { resourceVersion: '' }, says: /non-empty ResourceVersion/ },
  { why: 'a resourceVersion of ours', over: { resourceVersion: '.dkc-tmp-1' }, says: /ResourceVersion/ },
  { why: 'no namespace', over: { namespace: '' }, says: /a namespace and a name/ },
];
for (const { why, data = { kubelet }, over = {}, says } of unsafe)
  test(`a ConfigMap with ${why} is a problem`, () => {
    const downloaded = payloadOf({ ...configMap({}), data, metadata: { ...metadata, ...over } });
    assert.match(!downloaded.ok && 'problem' in downloaded ? downloaded.problem : '', says);
  });

test('the content hash is what an admin computes with the tools of the node', async (t) => {
  const of = { kubelet: 'maxPods: 5\n', 'ca.crt': 'CA', B: '', a_1: 'ä', '.x': 'y' };
  const dir = await tempDir(t);
  for (const [key, text] of Object.entries(of)) writeFileSync(`${dir}/${key}`, text);
  const command = "sha256sum kubelet ca.crt B a_1 .x | sed 's/  / /' | LC_ALL=C sort | sha256sum";
  const [hash] = execFileSync('sh', ['-c', command], { cwd: dir, encoding: 'utf8' }).split(' ');
  assert.equal(contentRef(digestFiles(filesOf(of)), 'kubelet').contentSha256, hash);
});
