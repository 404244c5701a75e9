import type { ApiServer, ApiServerOptions } from '../../../apiserver/server.ts';
import { ApiHttp } from '../../support/api-http.ts';
import { apiServer } from '../../support/embedded-api.ts';

export const nodeTokens = { 'contract-a': 'token-a', 'contract-b': 'token-b' };

/** A server on real time; the caller stops it. */
export async function started(options: Partial<ApiServerOptions> = {}): Promise<{ server: ApiServer; api: ApiHttp }> {
  const tokens = Object.entries(nodeTokens).map(([node, token]) => ({ token, user: `system:node:${node}`, groups: ['system:nodes'] }));
  const server = await apiServer({ tokens, ...options });
  return { server, api: new ApiHttp({ url: server.url, ca: server.caPem, token: server.token }) };
}
