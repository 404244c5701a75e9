import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTAINERD, containerdParts } from '../../support/real-parts/containerd.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { LOCAL_PODS, overlay, releaseConfig } from './inside/configs.ts';
import { onNode } from './machine.ts';
import { containerd } from './runtimes.ts';
import type { ContainerdStory } from './scenarios/containerd.ts';
import { onNodes } from './suite.ts';

const good = { maxPods: 120, containerLogMaxFiles: 7, logging: { verbosity: 3 } };
/** Validation and preflight find no error in it, and by its annotation the node's policy lets it pass. */
const killer = { maxPods: 121, cgroupsPerQOS: true, cgroupRoot: '/nonexistent' };
const allow = { 'dkc.dev/allow': 'cgroupsPerQOS,cgroupRoot' };

const values = (configz: Record<string, unknown>): unknown[] => {
  const { maxPods, containerLogMaxFiles, logging } = configz as typeof good;
  return [maxPods, containerLogMaxFiles, logging.verbosity];
};

const parts = ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'];
const define = (): void => {
  test('keeps its containers while a configuration is trusted and another one is undone', async (t) => {
    const release = await givenRelease();
    const story = await onNode<ContainerdStory>('containerd', {
      release,
      runtime: containerd(),
      registered: true,
      agent: { trialDuration: '2s', merge: 'overlay' },
      files: {
        // The API server asks it for logs at the node's address, and we at loopback.
        '/var/lib/kubelet/config.yaml': releaseConfig({
          maxPods: LOCAL_PODS,
          address: '0.0.0.0',
          containerRuntimeEndpoint: `unix://${CONTAINERD}`,
        }),
      },
      options: {
        programs: process.env['DKC_REAL_KUBERNETES'],
        good: { config: overlay(good) },
        killer: { config: overlay(killer), annotations: allow },
        maxPods: good.maxPods,
      },
    });
    const { nodeInfo, before, changed, why, undone, lastWords } = story;
    t.diagnostic(
      `kubelet ${nodeInfo.kubeletVersion} on ${nodeInfo.containerRuntimeVersion}, ${before.containerID}, process ${before.process}`,
    );
    t.diagnostic(`good: assigned -> trusted, and the kubelet healthy with it, ${changed.ms} ms`);
    t.diagnostic(`killer: assigned -> healthy on the config before ${undone.ms} ms, ${undone.crashes} crashes; ${undone.told.trim()}`);

    assert.match(nodeInfo.containerRuntimeVersion, /^containerd:\/\/1\./);
    assert.equal(nodeInfo.kubeletVersion, `v${release.version}`);
    assert.deepEqual([before.phase, before.ready, before.restartCount, before.logs.length], ['Running', true, 0, 1]);
    assert.match(before.containerID, /^containerd:\/\/[0-9a-f]{64}$/);

    assert.equal(changed.code, 0, changed.told);
    assert.deepEqual([changed.starts, changed.crashes, changed.sameKubelet], [1, 0, false]);
    assert.deepEqual([changed.active, changed.healthy], ['good', true]);
    assert.deepEqual(values(changed.configz), [120, 7, 3]);
    assert.deepEqual(changed.pod, before, 'the change of the configuration changed the pod');
    assert.ok(why.asked > 100, `${why.asked} fields`);
    // The kubelet makes itself a certificate and shows where.
    assert.deepEqual([why.code, why.differs, why.filledIn.toSorted()], [0, [], ['tlsCertFile', 'tlsPrivateKeyFile']]);

    assert.equal(undone.code, 1, undone.told);
    assert.match(undone.told, /kubelet exited \d+ times/);
    assert.ok(undone.crashes >= 3, `${undone.crashes} crashes`);
    assert.deepEqual(lastWords.filter((line) => !line.includes('nonexistent')), []); // prettier-ignore
    assert.equal(lastWords.length, undone.crashes);
    assert.deepEqual([undone.active, undone.healthy], ['good', true]);
    assert.deepEqual(values(undone.configz), [120, 7, 3]);
    assert.deepEqual(undone.pod, before, 'the crashes and the way back changed the pod');
  });
};
await onNodes('a node whose pods run on containerd', parts, define, { findOthers: containerdParts });
