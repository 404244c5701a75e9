import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { pageAssets } from '../../../cli/controllers/page-assets.ts';
import { noPageMetrics } from '../../../controllers/page/page.ts';
import { startPageServer } from '../../../controllers/page/server.ts';
import { PlayedFleet } from './played-fleet.ts';

/** A page of a played fleet on a free port of this machine. */
export interface ServedPage extends AsyncDisposable {
  url: string;
  fleet: PlayedFleet;
}

/** @param token - readers have to give it. @default none */
export async function servePage(nodes: number, token?: string, metrics = noPageMetrics): Promise<ServedPage> {
  const fleet = new PlayedFleet(nodes, { clock: realClock, random: seededRandom(7), metrics });
  const server = await startPageServer({
    at: { host: '127.0.0.1', port: 0 },
    token: token === undefined ? undefined : () => Promise.resolve(token),
    assets: pageAssets(),
    picture: fleet.picture,
    stream: fleet.stream,
    detail: fleet.detail,
    metrics,
    clock: realClock,
    log: silentLog,
  });
  return { url: server.url, fleet, [Symbol.asyncDispose]: () => server.close() };
}
