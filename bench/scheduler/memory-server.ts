import { startApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import { benchPod } from '../cache/pod.ts';
import { benchNodes } from './core-cluster.ts';

/* An API server with nodes and pods (first two arguments: how many). It sends its address to its parent. */
const [, , nodes = '0', pods = '0'] = process.argv.map(Number);
const server = await startApiServer({ clock: realClock, random: realRandom, log: silentLog, version: 'v1.34.0', garbageCollection: false });
const { storage } = server.hooks;
for (const node of benchNodes(Number(nodes))) storage.put('/nodes', node.metadata.name ?? '', node);
for (let n = 0; n < Number(pods); n++) {
  const pod = benchPod(n);
  storage.put('/pods', `default/${pod.metadata.name}`, {
    ...pod,
    spec: { ...(pod['spec'] as object), nodeName: `node-${n % Number(nodes)}` },
  });
}
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url, ca: server.caPem, token: server.token, kubeconfig: server.kubeconfig() });
