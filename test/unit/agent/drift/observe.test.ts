import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDrift } from '../../../../agent/drift/plan.ts';
import { ConfigzCheck, observeDrift } from '../../../../agent/drift/observe.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { agentDefaults } from '../../../../agent/options.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { silentLog } from '../../../../base/log.ts';

const PATH = '/var/lib/dkc/kubelet.yaml';
const options = { effectiveConfig: PATH, kubeletUnit: 'kubelet.service', kubeletExits: '/run/dkc/kubelet-exits' };
const ENV = 'KUBELET_CONFIG_ARGS=--config=/var/lib/dkc/kubelet.yaml';
const start = '{ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet $KUBELET_CONFIG_ARGS $KUBELET_EXTRA_ARGS ; ignore_errors=no ; pid=7 }';
const copy = '{ path=/bin/sh ; argv[]=/bin/sh -c cp -T "$$from" /run/dkc/kubelet-started.yaml ; ignore_errors=yes }';
/** What a unit prints where the drop-in is in place and its kubelet runs as process 7. */
const installed = { LoadState: 'loaded', MainPID: '7', ExecStartPre: copy, ExecStart: start, Environment: ENV, EnvironmentFiles: '/etc/default/kubelet (ignore_errors=yes)' }; // prettier-ignore
const files = { [PATH]: 'ours', '/run/dkc/kubelet-started.yaml': 'ours', '/proc/7/cmdline': `/usr/bin/kubelet\0--config=${PATH}\0` };

/** Kinds that a look finds, in order; `?` after those that it could not find out. */
async function seen(
  over: { unit?: Partial<typeof installed>; files?: Record<string, string | undefined>; isWrittenByAgent?: boolean },
): Promise<string> {
  const there = Object.entries({ ...files, ...over.files }).flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]));
  const disk = { ...memoryDisk(Object.fromEntries(there) as Record<string, string>), realPath: async (path: string) => path };
  const shown = Object.entries({ ...installed, ...over.unit }).map(([name, value]) => `${name}=${value}\n`);
  const exec = async (_program: string, [verb, flag]: readonly string[]) => ({ code: 0, stderr: '', stdout: verb === 'show' && flag === '-p' ? shown.join('') : 'active\n' }); // prettier-ignore
  const found = findDrift(await observeDrift({ options, world: { disk, exec }, wroteSha256: sha256('ours'), isWrittenByAgent: over.isWrittenByAgent ?? true }));
  const kinds = ['EffectiveFileChanged', 'NotUsed', 'KubeletDiffers'] as const;
  return kinds.flatMap((kind) => (found[kind] === undefined ? [`${kind}?`] : found[kind] === null ? [] : [kind])).join(' ');
} // prettier-ignore

const looks: (Parameters<typeof seen>[0] & { why: string; is: string })[] = [
  { why: 'a node as installed', is: '' },
  { why: 'a file that was edited', files: { [PATH]: 'theirs' }, is: 'EffectiveFileChanged' },
  { why: 'a file that the agent found and keeps', files: { [PATH]: 'theirs' }, isWrittenByAgent: false, is: 'EffectiveFileChanged?' },
  { why: 'the file in /run while the disk takes no writes', files: { [PATH]: 'before', '/run/dkc/kubelet.env': 'x', '/run/dkc/kubelet.yaml': 'ours', '/proc/7/cmdline': '/usr/bin/kubelet\0--config=/run/dkc/kubelet.yaml\0' }, is: '' },
  { why: 'a kubelet that was started without the drop-in', files: { '/proc/7/cmdline': '/usr/bin/kubelet\0--config\0/etc/other.yaml\0' }, is: 'NotUsed' },
  { why: 'a unit without the drop-in', unit: { ExecStartPre: '', Environment: 'KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml' }, is: 'NotUsed' },
  { why: 'a kubelet on another file', files: { '/run/dkc/kubelet-started.yaml': 'before' }, is: 'KubeletDiffers' },
]; // prettier-ignore
for (const { why, is, ...over } of looks) test(`a look at ${why} finds ${is || 'nothing'}`, async () => assert.equal(await seen(over), is));

const URL = 'https://127.0.0.1:10250/configz';

function checked() {
  const clock = new FakeClock();
  const kubelet: { answer: unknown; asked: number } = { answer: { kubeletconfig: { maxPods: 50, enforceNodeAllocatable: ['pods'], evictionHard: { 'memory.available': '1Gi' } } }, asked: 0 }; // prettier-ignore
  const effective =
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {memory.available: 1Gi}\nclusterDNS: []\n';
  const disk = memoryDisk({ '/var/lib/dkc/kubelet.yaml': effective, '/args': '--max-pods=50\n' });
  const check = new ConfigzCheck({
    options: { ...agentDefaults, nodeName: 'node-a', kubeconfig: '/kubeconfig', kubeletUnit: '', kubeletArgs: '/args', kubeletVersion: '1.36', kubeletConfigz: URL },
    world: {
      disk,
      clock,
      log: silentLog,
      exec: () => Promise.reject(new Error('no programs in this test')),
      fetchFromKubelet: async (url, as) => {
        kubelet.asked += 1;
        assert.deepEqual([url, as], [URL, { kubeconfig: '/kubeconfig', nodeName: 'node-a' }]);
        return kubelet.answer;
      },
    },
    activeRecord: { notice: () => {} },
  }); // prettier-ignore
  return { check, clock, kubelet };
}

test('the kubelet is asked every five minutes, and again before a difference is reported; flags count', async () => {
  const { check, clock, kubelet } = checked();
  assert.deepEqual(await check.fields(false), []);
  kubelet.answer = { kubeletconfig: { maxPods: 51, enforceNodeAllocatable: ['pods'] } };
  await clock.advance(299_000);
  assert.deepEqual([await check.fields(false), kubelet.asked], [[], 1]);
  assert.deepEqual([await check.fields(true), kubelet.asked], [['maxPods', 'evictionHard'], 2]);
  check.forget();
  assert.deepEqual([(await check.fields(false))?.length, kubelet.asked], [2, 3]);
});
