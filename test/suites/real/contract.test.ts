import { apiContract } from '../../support/contracts/api-contract.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { withRealParts } from './suite.ts';

const nodes = ['contract-a', 'contract-b'];

await withRealParts('contract', ['etcd', 'kube-apiserver', 'kube-controller-manager'], () => {
  apiContract('kube-apiserver 1.20.2', async () => {
    const plane = await startControlPlane({ nodes, controllers: 'garbagecollector,namespace' });
    return {
      url: plane.url,
      ca: plane.ca,
      token: plane.adminToken,
      nodeTokens: Object.fromEntries(nodes.map((name) => [name, plane.nodeToken(name)])),
      async forget() {
        await plane.compact();
        await plane.restartApiServer(); // else it still knows the latest changes by itself
      },
      stop: () => plane.stop(),
    };
  });
});
