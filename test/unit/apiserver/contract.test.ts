import { apiContract } from '../../support/contracts/api-contract.ts';
import { nodeTokens, started } from './started.ts';

for (const release of [
  { minor: 36, version: 'v1.36.3', dynamicKubeletConfig: false },
  { minor: 20, version: 'v1.20.2', dynamicKubeletConfig: true },
]) {
  apiContract(`the embedded server as ${release.version}`, release, async () => {
    const { server } = await started({ tls: false, ...release });
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
}
