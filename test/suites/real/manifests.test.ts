import { manifestsContract } from '../../support/contracts/manifests.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { releases } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

for (const release of await releases()) {
  const define = (): void =>
    manifestsContract(`kube-apiserver ${release.version}`, async () => {
      const plane = await startControlPlane({ release });
      const { kubectl } = await release.programs(['kubectl']);
      const refuses = release.minor < 28 ? /namespace in body should match/ : /must be a DNS-1123 label of at most 63 characters/;
      return { kubectl, kubeconfig: plane.kubeconfig(), version: release.version, refuses, stop: () => plane.stop() };
    });
  await withRealParts(`manifests ${release.version}`, ['etcd', 'kube-apiserver', 'kubectl'], define, release);
}
