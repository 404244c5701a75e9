import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenRelease } from '../../support/real-parts/release.ts';
import { onNode } from './machine.ts';
import type { NodeDoctor } from './scenarios/doctor.ts';
import { onReleaseNodes } from './suite.ts';

await onReleaseNodes('dkc doctor on a node of a cluster of today', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  test('names the flag that the administrator set, and nothing else', async (t) => {
    const release = await givenRelease();
    const options = { programs: process.env['DKC_REAL_KUBERNETES'] };
    const { code, unusual, versions, table } = await onNode<NodeDoctor>('doctor', { release, registered: true, options });
    t.diagnostic(table);
    // --event-qps is in /etc/default/kubelet of every node here; no machine of a test has a network to take the time from.
    assert.deepEqual(unusual, [
      'kubelet-flags warning: flags override the configuration: --event-qps sets eventRecordQPS',
      'clock warning: the clock of this machine is not synchronized by NTP',
    ]);
    assert.match(table, /\n {2}kubelet-flags: remove --event-qps from \/etc\/default\/kubelet, /);
    assert.deepEqual(versions, [
      `kubelet-version ok: kubelet v${release.version}`,
      'kubelet-ports ok: port 10250, healthzPort 10248',
      'agent-rights ok: the agent has all of them',
      `version-skew ok: kubelet v${release.version}, API server v${release.version}`,
    ]);
    assert.equal(code, 0);
  });
});
