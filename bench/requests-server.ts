import { startApiServer } from '../apiserver/server.ts';
import { realClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { realRandom } from '../base/random.ts';
import { aConfigMap, ITEMS, SMALL } from './requests-data.ts';

/** The server of bench/requests.ts, in a separate process, so that its CPU time is not counted for the clients. Prints its address as a line of JSON. */
const server = await startApiServer({ clock: realClock, random: realRandom, log: silentLog });
for (let n = 0; n < SMALL; n++) server.add({ ...aConfigMap(`small-${n}`, 'default', 100) });
for (let n = 0; n < ITEMS; n++) server.add({ ...aConfigMap(`item-${n}`, 'kube-public', 1_800) });
process.stdout.write(`${JSON.stringify({ url: server.url, ca: server.caPem, token: server.token, kubeconfig: server.kubeconfig() })}\n`);
