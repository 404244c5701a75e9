import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigzCheck, type ConfigzDeps } from '../../../../agent/drift/configz-check.ts';
import { agentDefaults } from '../../../../agent/options.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const URL = 'https://127.0.0.1:10250/configz';

function checked(over: Partial<ConfigzDeps['options']> = {}) {
  const [clock, { log, lines }] = [new FakeClock(), recordedLog()];
  const kubelet: { answer: unknown; asked: number } = { answer: { kubeletconfig: { maxPods: 50, enforceNodeAllocatable: ['pods'], evictionHard: { 'memory.available': '1Gi' } } }, asked: 0 }; // prettier-ignore
  const notices: (string | null)[] = [];
  const effective =
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {memory.available: 1Gi}\nclusterDNS: []\n';
  const disk = memoryDisk({ '/var/lib/dkc/kubelet.yaml': effective, '/args': '--max-pods=50\n' });
  const check = new ConfigzCheck({
    options: { ...agentDefaults, nodeName: 'node-a', kubeconfig: '/kubeconfig', kubeletUnit: '', kubeletArgs: '/args', kubeletVersion: '1.36', kubeletConfigz: URL, ...over },
    world: {
      disk,
      clock,
      log,
      exec: () => Promise.reject(new Error('no programs in this test')),
      askKubelet: async (url, as) => {
        kubelet.asked += 1;
        assert.deepEqual([url, as], [URL, { kubeconfig: '/kubeconfig', nodeName: 'node-a' }]);
        if (kubelet.answer instanceof Error) throw kubelet.answer;
        return kubelet.answer;
      },
    },
    activeRecord: { notice: (_about, text) => void notices.push(text) },
  }); // prettier-ignore
  return { check, clock, kubelet, notices, lines };
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

test('a kubelet that cannot be asked keeps its last answer, and is a notice from the second failure on until it answers', async () => {
  const { check, clock, kubelet, notices, lines } = checked();
  await check.fields(false);
  const good = kubelet.answer;
  for (const answer of [new Error('connection refused'), { kind: 'Status' }, new Error('403')]) {
    kubelet.answer = answer;
    await clock.advance(300_000);
    assert.deepEqual(await check.fields(false), []);
  }
  assert.equal(notices.length, 1);
  assert.match(notices[0] ?? '', /^the kubelet is not compared with the effective file: https:.*has no kubeletconfig$/);
  assert.equal(lines.length, 1);
  kubelet.answer = good;
  await check.fields(false);
  assert.deepEqual(notices.slice(1), [null]);
});

for (const [why, over, asks] of [
  ['without a URL', { kubeletConfigz: '' }, 0],
  ['of which the version is newer than all that are known', { kubeletVersion: '1.99' }, 0],
] as const)
  test(`a kubelet ${why} is not asked`, async () => {
    const { check, kubelet } = checked(over);
    assert.equal(await check.fields(false), undefined);
    assert.equal(kubelet.asked, asks);
  });
