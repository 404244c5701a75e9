import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenRelease } from '../../support/real-parts/release.ts';
import { onNode } from './machine.ts';
import type { ReleaseStory } from './scenarios/release.ts';
import { onNodes } from './suite.ts';

await onNodes('a node of a cluster of today', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  test('is fine by dkc doctor, and is assigned by its NodeConfig: trusted, refused, rolled back, and well without an API server', async (t) => {
    const release = await givenRelease();
    const { carrier, good, why, refused, undone, away, doctor } = await onNode<ReleaseStory>('release', {
      release,
      registered: true,
      agent: { trialDuration: '5s', merge: 'overlay' },
      options: { programs: process.env['DKC_REAL_KUBERNETES'] },
    });
    t.diagnostic(`good: assigned -> healthy with it ${good.healthyMs} ms, -> trusted ${good.trustedMs} ms (5000 of them the trial)`);
    t.diagnostic(`killer: assigned -> healthy on the config before ${undone.ms} ms, ${undone.crashes} crashes`);
    assert.equal(carrier, 'nodeconfig');
    assert.deepEqual([good.ready, good.starts], ['True', 2]);
    assert.ok(why.asked > 100, `${why.asked} fields`);
    // The kubelet makes itself a certificate and shows where.
    assert.deepEqual([why.code, why.differs, why.filledIn.toSorted()], [0, [], ['tlsCertFile', 'tlsPrivateKeyFile']]);
    assert.deepEqual(refused.after, refused.before, 'the kubelet was restarted for what is refused');
    assert.ok(refused.events.some((event) => event.includes('syncFrequency')), refused.events.join('\n')); // prettier-ignore
    assert.deepEqual([undone.active, undone.error], ['good', 'failed trial, see dkc-agent log for details']);
    assert.match(undone.reason, /^kubelet exited \d+ times$/);
    assert.deepEqual([away.agentStarts, away.active], [true, 'good']);
    // --event-qps is in /etc/default/kubelet of every node here; no machine of a test has a network to take the time from.
    assert.deepEqual(doctor.unusual, [
      'kubelet-flags warning: flags override the configuration: --event-qps sets eventRecordQPS',
      'clock warning: the clock of this machine is not synchronized by NTP',
    ]);
    assert.match(doctor.table, /\n {2}kubelet-flags: remove --event-qps from \/etc\/default\/kubelet, /);
    assert.deepEqual(doctor.versions, [
      `kubelet-version ok: kubelet v${release.version}`,
      'kubelet-ports ok: port 10250, healthzPort 10248',
      'agent-rights ok: the agent has all rights that it needs',
      `version-skew ok: kubelet v${release.version}, API server v${release.version}`,
    ]);
    assert.equal(doctor.code, 0);
  });
});
