import { startApiServer } from '../../apiserver/server.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import { benchPod } from './pod.ts';

/*
 * An API server with pods (first argument: how many) without existing owners. On the message `{churn: {perSecond, seconds}}` it changes the pods, and
 * writes the time of the change into each.
 */
const pods = Number(process.argv[2]);
const server = await startApiServer({
  clock: realClock,
  random: realRandom,
  log: silentLog,
  version: process.argv[3] ?? 'v1.34.0',
  garbageCollection: false,
});
const { storage } = server.hooks;
const keys: string[] = [];
for (let n = 0; n < pods; n++) {
  const pod = benchPod(n);
  keys.push(`default/${pod.metadata.name}`);
  storage.put('/pods', keys[n] ?? '', pod);
}
process.on('message', (message: { churn: { perSecond: number; seconds: number } }) => void churn(message.churn));
process.send?.({ url: server.url, ca: server.caPem, token: server.token, kubeconfig: server.kubeconfig() });

async function churn({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<void> {
  const from = performance.now();
  for (let done = 0; done < perSecond * seconds;) {
    // In small steps: a burst of a thousand changes per second would measure something else.
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - from) / 1_000) * perSecond));
    for (; done < due; done++) {
      const key = keys[(done * 7_919) % keys.length] ?? '';
      const pod = storage.get('/pods', key);
      if (pod === undefined) continue;
      const at = String(performance.timeOrigin + performance.now());
      storage.put('/pods', key, {
        ...pod,
        metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, 'example.com/at': at } },
      });
    }
    await realClock.sleep(2);
  }
  process.send?.({ churned: perSecond * seconds });
}
