import { apiContract } from '../../support/contracts/api-contract.ts';
import { nodeTokens, started } from './started.ts';

apiContract('the embedded server', async () => {
  const { server } = await started({ tls: false });
  return {
    url: server.url,
    ca: server.caPem,
    token: server.token,
    nodeTokens,
    bookmarkSeconds: 1,
    forget: async () => server.hooks.compact(),
    stop: () => server.stop(),
  };
});
