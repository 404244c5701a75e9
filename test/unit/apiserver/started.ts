import { startApiServer } from '../../../apiserver/server.ts';
import type { ApiServer, ApiServerOptions } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { ApiHttp } from '../../support/api-http.ts';

export const nodeTokens = { 'contract-a': 'token-a', 'contract-b': 'token-b' };

/** A server on real time; the caller stops it. */
export async function started(options: Partial<ApiServerOptions> = {}): Promise<{ server: ApiServer; api: ApiHttp }> {
  const tokens = Object.entries(nodeTokens).map(([node, token]) => ({ token, user: `system:node:${node}`, groups: ['system:nodes'] }));
  const server = await startApiServer({ clock: realClock, random: seededRandom(1), log: silentLog, tokens, ...options });
  return { server, api: new ApiHttp({ url: server.url, ca: server.caPem, token: server.token }) };
}
