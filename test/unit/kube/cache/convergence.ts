import type { LocalApi } from '../../../../apiserver/local-api.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { Random } from '../../../../base/random.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { Handlers } from '../../../../kube/cache/contract.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import { isOlder } from '../../../../kube/cache/change.ts';
import type { Client } from '../../../../kube/client/client.ts';

// The client loads it with the first list, which takes turns of the loop that fake time knows nothing of.
import '../../../../kube/client/list-stream.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

type Reads = Pick<Client, 'listEach' | 'watch'>;

const KIND = '/configmaps';
const NAMES = 60;
// Fewer than the shortest memory of the server for its watches.
const AFTERWARDS = 40;
// Longer than the longest watch, the longest backoff and a half-open connection together.
const CALM_MS = 20 * 60_000;

/**
 * An informer on an API server that fails in every way it can, for so many random changes; then all is calm, and they must agree.
 * @returns what a handler was told that cannot have happened, and where cache and server differ at the end
 */
export async function converge({ seed, changes }: { seed: number; changes: number }): Promise<string[]> {
  // Each its own: how often the server or the client rolls the dice must not decide what happens in the world.
  const [random, serverRandom] = [seededRandom(seed), seededRandom(seed + 100_000)];
  const [clientRandom, retryRandom] = [seededRandom(seed + 200_000), seededRandom(seed + 300_000)];
  const clock = new FakeClock();
  // One that knows watches with the present state.
  const server = { version: 'v1.34.0', watchWindow: 50 + Math.floor(random() * 400), bookmarkMs: 10_000 };
  const api = localApi(clock, { ...server, dynamicKubeletConfig: false, random: serverRandom });
  const client = localClient(api, { clock, random: retryRandom, timeoutMs: 5_000 });
  const witness = new Witness();
  const weather = { backdated: false };
  // Either lists that go back and are believed in the end, or replicas that lag behind. Where the history that is believed is older than the objects,
  // "nothing older than what is known" holds no replica back any more, and on no server does both happen.
  const goesBack = seed % 4 >= 2;
  const parts = { resource: configMaps, client: backdating(client, weather), clock, random: clientRandom, log: silentLog };
  const informer = new SharedInformer<KubeObject>({
    ...parts,
    pageSize: 7,
    frozen: true,
    streams: seed % 2 === 0,
    resyncMs: seed % 3 === 0 ? 4_000 : 0,
    onHandlerFailure: () => witness.problems.push('a handler failed'),
  });
  informer.addHandlers('witness', witness.handlers);
  const ending = new AbortController();
  const running = informer.run(ending.signal);
  for (let done = 0; done < changes;) {
    for (let batch = Math.floor(random() * 200); batch > 0 && done < changes; batch--, done++) change(api, random);
    await disturb(api, random, goesBack ? steady : troubles);
    weather.backdated = goesBack && random() < 0.25;
    await clock.advance(random() * 3_000);
  }
  api.hooks.setFaults([]);
  weather.backdated = false;
  await api.hooks.resume();
  // A half-open connection is found out by PINGs, which need a socket.
  api.hooks.dropConnections();
  await clock.advance(CALM_MS);
  compare(informer, api, witness);
  // A list heals what events did wrong, so the last ones are not followed by any.
  for (let done = 0; done < AFTERWARDS; done++) change(api, random);
  await clock.advance(CALM_MS / 10);
  compare(informer, api, witness);
  ending.abort();
  await running;
  await client.close();
  api.stop();
  return witness.problems;
}

/** The same client; in bad weather lists say that they are older than they are, as if history had been set back. */
function backdating(client: Reads, weather: { backdated: boolean }): Reads {
  return {
    listEach: async (...call) => {
      const metadata = await client.listEach(...call);
      return weather.backdated ? { ...metadata, resourceVersion: '1' } : metadata;
    },
    watch: (...call) => client.watch(...call),
  };
}

function change(api: LocalApi, random: Random): void {
  const { storage } = api.hooks;
  const name = `cm-${Math.floor(random() * NAMES)}`;
  const key = `default/${name}`;
  const there = storage.get(KIND, key);
  const dice = random();
  if (there !== undefined && dice < 0.15) {
    storage.remove(KIND, key);
    // Half of them are back at once: the same name, another object.
    if (dice > 0.07) return;
  }
  const before = dice < 0.15 ? undefined : there;
  const uid = before?.metadata.uid ?? `uid-${storage.version}`;
  storage.put(KIND, key, { metadata: { name, namespace: 'default', uid }, data: { at: String(storage.version) } });
}

const troubles = [
  { verb: 'watch', status: 'drop', probability: 0.3 },
  { verb: 'watch', status: 'gone', probability: 0.3 },
  { verb: 'watch', status: 'half-open', count: 1 },
  { verb: 'watch', status: 'delay', ms: 700, probability: 0.5 },
  { verb: 'watch', status: 'duplicate', probability: 0.2 },
  { verb: 'watch', status: 'reorder', probability: 0.05 },
  { verb: 'watch', status: 'truncate', probability: 0.02 },
  { verb: 'watch', status: 'early-gone', probability: 0.02 },
  { verb: 'watch', status: 'lag', ms: 300, probability: 0.05 },
  { verb: 'list', status: 500, probability: 0.3 },
  { verb: 'list', status: 'half', probability: 0.3 },
  { verb: 'list', status: 'truncate', probability: 0.3 },
  { verb: 'list', status: 'gone', probability: 0.3 },
  // Servers that lag behind catch up: twice in a row, not for ever.
  { verb: 'list', status: 'stale', versions: 40, count: 2 },
];

const steady = troubles.filter(({ status }) => status !== 'stale');

/** Some troubles at a time, now and then a restart, forgotten changes or cut connections. */
async function disturb(api: LocalApi, random: Random, troubles: readonly object[]): Promise<void> {
  const chosen = troubles.filter(() => random() < 0.12).map((trouble) => ({ resource: 'configmaps', ...trouble }));
  api.hooks.setFaults(parseFaults(chosen));
  if (random() < 0.1) api.hooks.compact();
  if (random() < 0.1) api.hooks.dropConnections();
  if (random() < 0.05) await api.hooks.pause();
  else await api.hooks.resume();
}

/** The cache, and what it told, are what the server has; and its version is neither older than that nor of the future. */
function compare(informer: SharedInformer<KubeObject>, { hooks: { storage } }: LocalApi, { problems, held }: Witness): void {
  const inWords = (objects: Iterable<KubeObject>): string =>
    Array.from(objects, (object) => `${objectKey(object)} ${object.metadata.uid}@${object.metadata.resourceVersion} ${JSON.stringify(object['data'])}`).toSorted().join('; '); // prettier-ignore
  const { objects } = storage.list(KIND);
  const server = inWords(objects);
  if (inWords(informer.list()) !== server) problems.push(`the server has ${server}, and the cache ${inWords(informer.list())}`);
  if (inWords(held.values()) !== server) problems.push(`the server has ${server}, and told was ${inWords(held.values())}`);
  const isBehind = objects.some(({ metadata }) => isOlder(informer.version, metadata.resourceVersion ?? ''));
  if (isBehind || isOlder(String(storage.version), informer.version)) problems.push(`the cache says it is at ${informer.version}`);
}

/** Believes only what it is told, and notes what cannot be. */
class Witness {
  readonly problems: string[] = [];
  readonly held = new Map<string, KubeObject>();
  readonly #newest = new Map<string, string>();

  readonly handlers: Handlers<KubeObject> = {
    added: (object) => {
      const key = objectKey(object);
      this.#saw(key, object);
      if (this.held.has(key)) this.problems.push(`${key} was added twice`);
      this.held.set(key, object);
    },
    updated: (before, after) => {
      const key = objectKey(after);
      if (this.held.get(key) !== before) this.problems.push(`${key} was updated from a state that was never told`);
      if (before.metadata.uid !== after.metadata.uid) this.problems.push(`${key} became another object in an update`);
      this.#saw(key, after);
      this.held.set(key, after);
    },
    deleted: (last) => {
      const key = objectKey(last);
      if (this.held.get(key)?.metadata.uid !== last.metadata.uid) this.problems.push(`${key} was deleted, and it was not there`);
      this.#saw(key, last);
      this.held.delete(key);
    },
  };

  #saw(key: string, { metadata: { resourceVersion = '' } }: KubeObject): void {
    const newest = this.#newest.get(key);
    if (newest !== undefined && isOlder(resourceVersion, newest))
      this.problems.push(`${key} went back from ${newest} to ${resourceVersion}`);
    this.#newest.set(key, resourceVersion);
  }
}
