import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults, parseKubeletVersion, readConfigz } from '../../../../../agent/config/config.ts';

const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const answers: { why: string; minor: string; text: string; reads: object | RegExp }[] = [
  { why: 'up to 1.35 has no type', minor: '1.35', text: '{"kubeletconfig":{"maxPods":7,"syncFrequency":"1m0s","staticPodPath":""}}', reads: { maxPods: 7 } },
  { why: 'from 1.36 on has one', minor: '1.36', text: JSON.stringify({ kubeletconfig: { ...TYPE, maxPods: 7 } }), reads: { maxPods: 7 } },
  { why: 'holds fields that this table does not have', minor: '1.36', text: '{"kubeletconfig":{"later":1,"maxPods":7}}', reads: { maxPods: 7 } },
  { why: 'is no JSON', minor: '1.36', text: 'Unauthorized', reads: /^the answer of \/configz is not JSON/ },
  { why: 'is something else', minor: '1.36', text: '{"kind":"Status"}', reads: /has no kubeletconfig$/ },
  { why: 'has a field of the wrong type', minor: '1.36', text: '{"kubeletconfig":{"maxPods":"x"}}', reads: /is not a configuration of this kubelet version: maxPods \(type\)$/ },
]; // prettier-ignore
for (const { why, minor, text, reads } of answers)
  test(`an answer of /configz that ${why}`, () => {
    const version = parseKubeletVersion(minor);
    const read = readConfigz(text, version);
    if (reads instanceof RegExp) assert.match(read.ok ? 'read' : read.problem, reads);
    // A list or map that is not in the answer was set to be empty.
    else assert.deepEqual(read, { ok: true, config: applyDefaults({ ...TYPE, enforceNodeAllocatable: [], evictionHard: {}, ...reads }, version) }); // prettier-ignore
  });
