import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenRelease } from '../../support/real-parts/release.ts';
import { onNode } from './machine.ts';
import type { Outcome, ThreeNodes } from './scenarios/three-nodes.ts';
import { onNodes } from './suite.ts';

const parts = ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager', 'kubectl'];
const FREE = { unschedulable: false, lifecycle: [], annotations: [], ready: 'True' };

await onNodes('a fleet of today with one real kubelet under systemd and two simulated ones', parts, () => {
  test('is drained and changed node by node within a disruption budget; what the real kubelet dies of is taken back', async (t) => {
    const release = await givenRelease();
    const found = await onNode<ThreeNodes>('three-nodes', {
      release,
      registered: true,
      agent: { trialDuration: '5s', merge: 'overlay' },
      options: { programs: process.env['DKC_REAL_KUBERNETES'] },
    });
    const { good, bad, seen, evictedFrom, daemon, forbidden, events } = found;
    t.diagnostic(`good: complete in ${good.ms} ms; bad: all taken back in ${bad.ms} ms, ${bad.crashes} ends of the kubelet`);
    t.diagnostic(good.blocked);
    t.diagnostic(bad.watched.stdout.trimEnd().replaceAll('\n', ' | '));

    const all = (name: string | undefined): Outcome['active'] =>
      Object.fromEntries(['node-0', 'node-1', 'node-2'].map((node) => [node, `${name} ${name}`]));
    assert.match(good.blocked, /shop-\w+-\w+ .*disruption budget shop needs 3 healthy pods and has 3 currently/);
    assert.deepEqual([good.status.nodes?.settled, good.status.nodes?.failed, good.crashes], [3, 0, 0]);
    assert.deepEqual(good.active, all(good.status.revision));
    assert.deepEqual(Object.values(good.nodes), [FREE, FREE, FREE]);
    assert.match(good.waited, /condition met/);
    assert.equal(good.starts, 2, 'one restart of the kubelet for one change');
    assert.ok(evictedFrom.includes('node-0'), `evicted from ${evictedFrom.join()}`);

    assert.deepEqual([bad.status.phase, bad.status.previousRevision], ['RolledBack', good.status.revision]);
    assert.equal(bad.failures, 'node-0: failed trial, see dkc-agent log for details');
    assert.deepEqual([bad.status.nodes?.failed, bad.watched.code], [1, 1]);
    assert.ok(bad.crashes >= 1, 'the kubelet never died');
    assert.deepEqual(bad.active, all(good.status.revision));
    assert.deepEqual(Object.values(bad.nodes), [FREE, FREE, FREE]);

    assert.deepEqual(seen, { mostCordoned: 1, fewestReady: 2 });
    assert.equal(daemon.after, daemon.before, 'the pod of a DaemonSet was touched');
    assert.deepEqual(forbidden, []);
    for (const reason of ['KubeletConfigCondemned', 'KubeletConfigTrusted', 'RolloutAssigned'])
      assert.ok(events.includes(reason), events.join());
  });
});
