import { createLocalApi } from '../../apiserver/local-api.ts';
import { startApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import { createClient } from '../../kube/client/http-client.ts';
import type { LocalApi, LocalApiOptions } from '../../apiserver/local-api.ts';
import type { ApiServer, ApiServerOptions } from '../../apiserver/server.ts';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ClientOptions } from '../../kube/client/http-client.ts';

/** The embedded API server without a port, without a log, and with the same chance in every run. */
export function localApi(clock: Clock, options: Partial<LocalApiOptions> = {}): LocalApi {
  return createLocalApi({ clock, random: seededRandom(1), log: silentLog, ...options });
}

/** A client of it. @param token - who asks. @default its administrator */
export function localClient(api: LocalApi, options: ClientOptions = {}, token = api.token): Client {
  return createClient({ origin: 'test', server: 'http://local', token }, { dial: api.dial, ...options });
}

/** The embedded API server on a port of loopback and on real time. The caller stops it. */
export function apiServer(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  return startApiServer({ clock: realClock, random: seededRandom(1), log: silentLog, ...options });
}
