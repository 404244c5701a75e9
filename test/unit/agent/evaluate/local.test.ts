import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { effectiveOfLocal, parseLocal, type LocalConfig } from '../../../../agent/evaluate/local.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const version = parseKubeletVersion('1.30');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function present(fields: string): Extract<LocalConfig, { at: 'present' }> {
  const local = parseLocal(bytesOf(KIND + fields), '/var/lib/kubelet', version);
  assert.ok(local.at === 'present', fields);
  return local;
}

test('a local config whose paths are absolute is used byte for byte, comments and all', () => {
  const text = '# by hand\nmaxPods:   110\nstaticPodPath: /etc/kubernetes/manifests\n';
  assert.equal(present(text).hasRelativePaths, false);
  assert.equal(textOf(effectiveOfLocal(present(text))), KIND + text);
});

test('a local config with a relative path is rendered with it made absolute: the effective file lies elsewhere', () => {
  const local = present('staticPodPath: manifests\nmaxPods: 110\n');
  assert.equal(local.hasRelativePaths, true);
  const effective = effectiveOfLocal(local);
  assert.match(textOf(effective), /^staticPodPath: \/var\/lib\/kubelet\/manifests$/m);
  const again = decode(effective, version);
  assert.ok(again.ok);
  assert.deepEqual(again.written, local.resolved);
});

for (const text of ['', 'kind: [', `${KIND}maxPods: hunter2\n`]) {
  test(`a local config that reads ${JSON.stringify(text)} is broken, and the problem holds no value`, () => {
    const local = parseLocal(bytesOf(text), '/', version);
    assert.ok(local.at === 'broken');
    assert.notEqual(local.problem, '');
    assert.doesNotMatch(local.problem, /hunter2/);
  });
}
