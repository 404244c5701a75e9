import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cappedFindings, type Finding } from '../../../../agent/config/contract.ts';
import { enabledGates } from '../../../../agent/config/gates/gates.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';
import { renderYaml } from '../../../../agent/config/yaml/render.ts';
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
  const a = { ...KIND, maxPods: 5, featureGates: { A: true, B: true }, staticPodURLHeader: { Token: ['one'] }, evictionHard: { 'memory.available': '1Gi' }, unknown: 1 }; // prettier-ignore
  const b = { ...KIND, maxPods: 5n, featureGates: { B: false }, staticPodURLHeader: { Token: ['two'] }, evictionHard: {}, authentication: { anonymous: { enabled: true } } }; // prettier-ignore
  assert.deepEqual(compareConfigs(a, b), [
    { field: 'staticPodURLHeader', class: 'dangerous', from: { Token: '***' }, to: { Token: '***' } },
    { field: 'authentication.anonymous.enabled', class: 'dangerous', from: null, to: true },
    { field: 'featureGates.A', class: 'dangerous', from: true, to: null },
    { field: 'featureGates.B', class: 'dangerous', from: true, to: false },
    { field: 'evictionHard', class: 'needs-drain', from: { 'memory.available': '1Gi' }, to: {} },
    { field: 'unknown', class: 'dangerous', from: 1, to: null },
  ]);
});

test('for people every map is compared key by key, secrets still masked', () => {
  const a = {
    ...KIND,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.inodesFree': '5%' },
    staticPodURLHeader: { A: ['1'], B: ['2'] },
  };
  const b = { ...a, evictionHard: { ...a.evictionHard, 'nodefs.inodesFree': '15%' }, staticPodURLHeader: { A: ['1'], B: ['3'] } };
  assert.deepEqual(compareConfigs(a, b, { byKey: true }), [
    { field: 'staticPodURLHeader.B', class: 'dangerous', from: '***', to: '***' },
    { field: 'evictionHard.nodefs.inodesFree', class: 'needs-drain', from: '5%', to: '15%' },
  ]);
});

test('a gate that is locked is what it is locked to, whatever the configuration says', () => {
  const isOn = enabledGates({ featureGates: { NodeSwap: false, PodLevelResources: false } }, parseKubeletVersion('v1.36.3'));
  assert.deepEqual(['NodeSwap', 'PodLevelResources'].map(isOn), [true, false]);
});

test('words that some reader takes for a boolean or a number are quoted', () => {
  const rendered = renderYaml({ a: 'no', b: 'Infinity', c: '-x', d: 'plain' });
  assert.equal(rendered, 'a: "no"\nb: "Infinity"\nc: "-x"\nd: plain\n');
});

test('findings beyond the limit are counted over all lists, with what each of them has counted', () => {
  const counted = (more: number): Finding => ({ field: '', rule: 'more', message: `and ${more} more`, more });
  assert.equal(cappedFindings([counted(3)], [counted(4)]).at(-1)?.more, 7);
});
