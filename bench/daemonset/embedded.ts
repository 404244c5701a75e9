import { startApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';

/* The embedded API server in a process of its own. It tells its parent how to reach it, and ends with it. */
const server = await startApiServer({
  clock: realClock,
  random: realRandom,
  log: silentLog,
  garbageCollection: false,
  // A fleet is made in a minute, and nobody is to begin anew because of that.
  watchWindow: 100_000,
});
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url, ca: server.caPem, token: server.token, kubeconfig: server.kubeconfig() });
