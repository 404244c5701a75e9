import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareConfigs } from '../../../../agent/config/policy/explain.ts';
import { mergeOverlay } from '../../../../agent/config/overlay.ts';

const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

test('an overlay merges objects, replaces lists, and null removes', () => {
  const merged = mergeOverlay(
    { a: 1, b: { c: 1, d: 2 }, e: [1, 2], f: 1 },
    { b: { c: null, g: { h: null, i: 1 } }, e: [3], f: null, j: 2 },
  );
  assert.deepEqual(merged, { a: 1, b: { d: 2, g: { i: 1 } }, e: [3], j: 2 });
  assert.deepEqual(Object.keys(merged), ['a', 'b', 'e', 'j']);
});

test('configurations compare by leaf, gates one by one, secrets masked', () => {
  const a = {
    ...KIND,
    maxPods: 5,
    featureGates: { A: true, B: true },
    staticPodURLHeader: { Token: ['one'] },
    evictionHard: { 'memory.available': '1Gi' },
    unknown: 1,
  };
  const b = {
    ...KIND,
    maxPods: 5n,
    featureGates: { B: false },
    staticPodURLHeader: { Token: ['two'] },
    evictionHard: {},
    authentication: { anonymous: { enabled: true } },
  };
  assert.deepEqual(compareConfigs(a, b), [
    { field: 'staticPodURLHeader', class: 'dangerous', from: { Token: '***' }, to: { Token: '***' } },
    { field: 'authentication.anonymous.enabled', class: 'dangerous', from: null, to: true },
    { field: 'featureGates.A', class: 'dangerous', from: true, to: null },
    { field: 'featureGates.B', class: 'dangerous', from: true, to: false },
    { field: 'evictionHard', class: 'needs-drain', from: { 'memory.available': '1Gi' }, to: {} },
    { field: 'unknown', class: 'dangerous', from: 1, to: null },
  ]);
});
