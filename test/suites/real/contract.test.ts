import { apiContract } from '../../support/contracts/api-contract.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { releases } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

const nodes = ['contract-a', 'contract-b'];

for (const release of await releases()) {
  const name = `kube-apiserver ${release.version}`;
  const contract = (): void =>
    apiContract(name, { minor: release.minor, dynamicKubeletConfig: release.minor < 26 }, async () => {
      const plane = await startControlPlane({ release, nodes, controllers: 'garbagecollector,namespace' });
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
  await withRealParts(name, ['etcd', 'kube-apiserver', 'kube-controller-manager'], contract, release);
}
