import { nodeRightsContract, rightsTokens } from '../../../support/contracts/node-rights.ts';
import { apiServer } from '../../../support/embedded-api.ts';

nodeRightsContract('embedded API server', async () => {
  const server = await apiServer({ tokens: rightsTokens });
  return {
    url: server.url,
    ca: server.caPem,
    adminToken: server.token,
    release: 20,
    isReal: false,
    stop: () => server.stop(),
  };
});
