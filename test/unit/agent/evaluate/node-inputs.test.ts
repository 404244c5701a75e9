import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { loadNodeInputs, type Gathered, type NodeInputsOptions } from '../../../../agent/evaluate/node-inputs.ts';
import { DEFAULT_POLICY_FILE } from '../../../../agent/options.ts';
import type { Disk } from '../../../../base/disk.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const POLICY = 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nallow: [safe]\n';
const [LOCAL, EFFECTIVE, MINE] = ['/var/lib/kubelet/config.yaml', '/var/lib/dkc/kubelet.yaml', '/etc/mine.yaml'];
const options: NodeInputsOptions = { localConfig: LOCAL, effectiveConfig: EFFECTIVE, merge: 'replace' };
const kubelet = { version: parseKubeletVersion('1.30'), args: ['--v=2'] };

/** A disk with these files, where the path in `broken` cannot be read at all. */
function diskOf(files: Record<string, string>, broken = ''): Disk {
  const disk = memoryDisk(files);
  const read = (path: string): Promise<Uint8Array> =>
    path === broken ? Promise.reject(Object.assign(new Error(`EIO: input/output error, ${path}`), { code: 'EIO' })) : disk.read(path);
  return { ...disk, read, readLinked: read };
}

async function gather(files: Record<string, string>, over: Partial<NodeInputsOptions> = {}, broken?: string) {
  const { log, lines } = recordedLog();
  const gathered = await loadNodeInputs({ ...options, ...over }, kubelet, diskOf(files, broken), log);
  return { ...gathered, lines };
}

const locals = [
  { why: 'no kubelet could read', files: { [LOCAL]: `${KIND}maxPods: hunter2` }, line: 'error: local config cannot be used' },
  { why: 'is empty', files: { [LOCAL]: '' }, line: 'error: local config cannot be used' },
  { why: 'is no YAML', files: { [LOCAL]: 'kind: [' }, line: 'error: local config cannot be used' },
  { why: 'the disk does not give', files: {}, broken: LOCAL, line: 'error: local config cannot be read' },
];
for (const { why, files, broken, line } of locals)
  test(`a local config that ${why} is broken, not missing`, async () => {
    const { inputs, lines } = await gather(files, {}, broken);
    assert.ok(inputs.local.at === 'broken');
    assert.notEqual(inputs.local.problem, '');
    assert.doesNotMatch(inputs.local.problem, /hunter2/);
    assert.deepEqual(lines, [line]);
  });

type Gatherings = { why: string; files?: Record<string, string>; flag?: string; broken?: string; policy: (policy: Gathered['inputs']['policy']) => boolean; problem?: RegExp }; // prettier-ignore
const isNone: Gatherings['policy'] = (policy) => policy === 'none';
const isOwn: Gatherings['policy'] = (policy) => policy !== 'none' && policy.allow.size === 1;
const policies: Gatherings[] = [
  { why: 'the file where every node has it', files: { [DEFAULT_POLICY_FILE]: POLICY }, policy: isOwn },
  { why: 'the file that was named, before that one', files: { [DEFAULT_POLICY_FILE]: 'x', [MINE]: POLICY }, flag: MINE, policy: isOwn },
  { why: 'none, whatever files there are', files: { [DEFAULT_POLICY_FILE]: POLICY }, flag: 'none', policy: isNone },
  { why: 'a problem where the named file is missing', flag: MINE, policy: isNone, problem: /^\/etc\/mine\.yaml: ENOENT/ },
  { why: 'a problem where a file is broken', files: { [DEFAULT_POLICY_FILE]: 'kind: Pod' }, policy: isNone, problem: /^\/etc\/dkc\/policy\.yaml: .*apiVersion/ },
  { why: 'a problem where a signature key is none', files: { [DEFAULT_POLICY_FILE]: `${POLICY}\nsignatureKeys: [ssh-dss AAAA]\n` }, policy: isNone, problem: /signatureKeys\[0\]: it must begin with/ },
  { why: 'a problem where a file cannot be read', broken: DEFAULT_POLICY_FILE, policy: isNone, problem: /^\/etc\/dkc\/policy\.yaml: EIO/ },
]; // prettier-ignore
for (const { why, files = {}, flag, broken, policy, problem } of policies)
  test(`policy is ${why}`, async () => {
    const { inputs, policyProblem, lines } = await gather(files, flag === undefined ? {} : { policy: flag }, broken);
    assert.ok(policy(inputs.policy));
    if (problem) assert.match(policyProblem ?? '', problem);
    else assert.equal(policyProblem, undefined);
    assert.deepEqual(lines, problem ? ['error: policy file cannot be used: new configs are rejected until it is fixed'] : []);
  });
