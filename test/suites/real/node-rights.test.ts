import { nodeRightsContract, rightsTokens } from '../../support/contracts/node-rights.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { withRealParts } from './suite.ts';

await withRealParts('rights of a node', ['etcd', 'kube-apiserver'], () => {
  nodeRightsContract('kube-apiserver 1.20.2', async () => {
    const plane = await startControlPlane({ extraTokens: rightsTokens });
    return { ...plane, release: 20, isReal: true };
  });
});
