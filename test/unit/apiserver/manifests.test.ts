import { manifestsContract } from '../../support/contracts/manifests.ts';
import { apiServer } from '../../support/embedded-api.ts';
import { describeWithKubectl } from '../../support/kubectl.ts';

describeWithKubectl('manifests', (kubectl) =>
  manifestsContract('embedded API server', async () => {
    const server = await apiServer({ version: 'v1.36.0' });
    return { kubectl, kubeconfig: server.kubeconfig(), version: '1.36', refuses: undefined, stop: () => server.stop() };
  }),
);
