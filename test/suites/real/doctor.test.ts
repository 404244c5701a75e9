import { join } from 'node:path';
import { doctorContract } from '../../support/contracts/doctor.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { ofRelease } from './suite.ts';

const release = await givenRelease();
await ofRelease(release, `dkc doctor --cluster ${release.version}`, ['etcd', 'kube-apiserver', 'kubectl'], () =>
  doctorContract(`kube-apiserver ${release.version}`, async () => {
    const plane = await startControlPlane({ release });
    const programs = await release.programs(['kubectl']);
    const kubectl = await Kubectl.start(programs.kubectl, plane.kubeconfig());
    return {
      kubeconfig: join(kubectl.home, 'config'),
      asNobody: ['--as=nobody'],
      version: release.version,
      apply: (yaml) => kubectl.good('apply -f -', yaml),
      stop: async () => {
        await kubectl.stop();
        await plane.stop();
      },
    };
  }),
);
