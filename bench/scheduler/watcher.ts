import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { realRandom } from '../../base/random.ts';
import { pods } from '../../kube/api/object.ts';
import { Informers } from '../../kube/cache/informers.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { loadKubeconfig } from '../../kube/client/access.ts';
import type { Pod } from '../../scheduler/types.ts';
import type { Told, Wanted } from './watch-binds.ts';

/*
 * Records when pods of a namespace are created and bound, in a separate process: `node watcher.ts KUBECONFIG NAMESPACE`. On a request message it
 * sends the times once that many pods are bound.
 */
const [, , kubeconfig = '', namespace = ''] = process.argv;
const times = new Map<string, { seen: number; bound: number | undefined }>();
let wanted: Wanted | undefined;
/** Number of bound pods among the requested ones. */
let bound = 0;

const now = (): number => performance.timeOrigin + performance.now();
const counts = (name: string): boolean => wanted !== undefined && name.startsWith(wanted.prefix);
const tell = (message: Told): void => void process.send?.(message);

function look(): void {
  if (wanted === undefined || bound < wanted.count) return;
  const found = [...times].filter(([name]) => counts(name));
  wanted = undefined;
  tell({ times: found.flatMap(([, { seen, bound: at }]) => (at === undefined ? [] : [{ seen, bound: at }])) });
}

function saw({ metadata: { name = '' }, spec }: Readonly<Pod>): void {
  let time = times.get(name);
  if (time === undefined) times.set(name, (time = { seen: now(), bound: undefined }));
  if (time.bound !== undefined || (spec?.nodeName ?? '') === '') return;
  time.bound = now();
  if (counts(name)) bound += 1;
  look();
}

const client = createClient(await loadKubeconfig(kubeconfig));
const informers = new Informers({ client, clock: realClock, random: realRandom, log: silentLog });
const cache = informers.of<Pod>(pods, { fields: ['spec.nodeName'] }, { namespace });
cache.addHandlers('watcher', { added: saw, updated: (_, pod) => saw(pod) });
const ending = new AbortController();
process.once('disconnect', () => process.exit());
process.on('message', (message: Wanted) => {
  wanted = message;
  bound = [...times].filter(([name, { bound: at }]) => counts(name) && at !== undefined).length;
  look();
});
const running = informers.run(ending.signal);
await informers.whenSynced(ending.signal);
tell({ ready: true });
await running;
