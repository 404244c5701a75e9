import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doctorContract } from '../../support/contracts/doctor.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

const release = await givenRelease();
await withRealParts(
  `dkc doctor --cluster ${release.version}`,
  ['etcd', 'kube-apiserver', 'kubectl'],
  () =>
    doctorContract(`kube-apiserver ${release.version}`, async () => {
      const plane = await startControlPlane({ release });
      const programs = await release.programs(['kubectl']);
      const kubectl = await Kubectl.start(programs.kubectl, plane.kubeconfig());
      const dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
      const kubeconfig = join(dir, 'kubeconfig');
      await writeFile(kubeconfig, plane.kubeconfig());
      return {
        kubeconfig,
        asNobody: ['--as=nobody'],
        version: release.version,
        apply: (yaml) => kubectl.good('apply -f -', yaml),
        stop: async () => {
          await kubectl.stop();
          await plane.stop();
          await rm(dir, { recursive: true });
        },
      };
    }),
  release,
);
