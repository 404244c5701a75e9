import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { startFakeRuntime, protoOfRelease } from '../../../support/real-parts/fake-runtime.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { releaseParts } from '../../../support/real-parts/release.ts';
import { ask, ReleaseKubelet, releaseKubeletConfig } from '../../../support/real-parts/release-kubelet.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { withRelease } from '../suite.ts';

await withRelease('a kubelet of the release', ['kubelet', 'cri-v1.proto'], () => {
  for (const cgroups of [false, true])
    test(`is healthy on the fake runtime${cgroups ? ', in cgroups of its own' : ''}`, async (t) => {
      const { kubelet: program, 'cri-v1.proto': proto } = await releaseParts(['kubelet', 'cri-v1.proto']);
      // Hooks of a test run in the order they were added: the kubelet must have ended before its folder goes.
      const dir = await tempDir(t);
      await using ends = new AsyncDisposableStack();
      const socket = join(dir, 'cri.sock');
      const runtime = await startFakeRuntime({ socket, api: 'v1', proto: protoOfRelease(proto) });
      ends.defer(() => runtime.close());
      const [port = 0, healthzPort = 0] = await freePorts(2);
      const fields = cgroups ? { cgroupsPerQOS: true, enforceNodeAllocatable: ['pods'] } : {};
      const config = releaseKubeletConfig(socket, { port, healthzPort, maxPods: 99, ...fields });
      const kubelet = await ReleaseKubelet.start({ program, dir, name: 'release-0', config, cgroups });
      ends.defer(async () => {
        await kubelet.stop();
        await kubelet.removeCgroups();
      });
      await eventually('a healthy kubelet', async () => {
        if (kubelet.end) throw new Error(kubelet.lastWords());
        return (await ask(`http://127.0.0.1:${healthzPort}/healthz`))?.status === 200 || undefined;
      });
      const answer = await eventually('its configuration', () => ask(`https://127.0.0.1:${port}/configz`));
      assert.match(answer.body, /"maxPods":99/);
      assert.ok(kubelet.hasStarted);
    });
});
