import { nodeRightsContract, rightsTokens } from '../../support/contracts/node-rights.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { releases } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

for (const release of await releases()) {
  const define = (): void =>
    nodeRightsContract(`kube-apiserver ${release.version}`, async () => {
      const plane = await startControlPlane({ release, extraTokens: rightsTokens });
      return { ...plane, release: release.minor, isReal: true };
    });
  await withRealParts(`rights of a node ${release.version}`, ['etcd', 'kube-apiserver'], define, release);
}
