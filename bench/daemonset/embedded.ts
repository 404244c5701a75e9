import { startApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';

/* The embedded API server in a separate process. It sends its address to its parent, and exits with it. */
const server = await startApiServer({
  clock: realClock,
  random: realRandom,
  log: silentLog,
  garbageCollection: false,
  // Large, so that no watch has to relist while the whole fleet is created within a minute.
  watchWindow: 100_000,
});
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url, ca: server.caPem, token: server.token, kubeconfig: server.kubeconfig() });
