import { apiContract } from '../../support/contracts/api-contract.ts';
import { manifestsContract } from '../../support/contracts/manifests.ts';
import { nodeRightsContract, rightsTokens } from '../../support/contracts/node-rights.ts';
import { apiServer } from '../../support/embedded-api.ts';
import { describeWithKubectl } from '../../support/kubectl.ts';
import { nodeTokens, started } from './started.ts';

for (const release of [
  { minor: 36, version: 'v1.36.3', dynamicKubeletConfig: false },
  { minor: 20, version: 'v1.20.2', dynamicKubeletConfig: true },
])
  apiContract(`the embedded server as ${release.version}`, release, async () => {
    const { server } = await started({ tls: false, ...release });
    const { url, caPem: ca, token } = server;
    return { url, ca, token, nodeTokens, bookmarkSeconds: 1, forget: async () => server.hooks.compact(), stop: () => server.stop() };
  });

nodeRightsContract('embedded API server', async () => {
  const server = await apiServer({ tokens: rightsTokens });
  const { url, caPem: ca, token: adminToken } = server;
  return { url, ca, adminToken, release: 20, isReal: false, stop: () => server.stop() };
});

describeWithKubectl('manifests', (kubectl) =>
  manifestsContract('embedded API server', async () => {
    const server = await apiServer({ version: 'v1.36.0' });
    return { kubectl, kubeconfig: server.kubeconfig(), version: '1.36', refuses: undefined, stop: () => server.stop() };
  }),
);
