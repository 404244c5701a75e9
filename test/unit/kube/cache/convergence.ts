import { createLocalApi } from '../../../../apiserver/local-api.ts';
import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Fault } from '../../../../apiserver/faults/fault.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { silentLog } from '../../../../base/log.ts';
import type { Fields, Log } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { Random } from '../../../../base/random.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { Handlers } from '../../../../kube/cache/contract.ts';
import { noReflectorMetrics } from '../../../../kube/cache/failure-log.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import { isOlder } from '../../../../kube/cache/change.ts';
import type { Client, WatchEvent } from '../../../../kube/client/client.ts';
import { isExpired } from '../../../../kube/client/errors.ts';

// The client loads it with the first list, which takes turns of the loop that fake time knows nothing of.
import '../../../../kube/client/list-stream.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { localClient } from '../../../support/embedded-api.ts';

type Reads = Pick<Client, 'listEach' | 'watch'>;

export interface RunOptions {
  seed: number;
  /** Objects created, changed, deleted or made anew while faults happen. */
  changes: number;
}

/** What happened in a run, so that a run in which nothing did proves nothing. */
export const nothingYet = {
  /** Complete states: of a list, and as events of a watch. */
  listed: 0,
  streamed: 0,
  /** 410 in answer to a list or watch, or in the middle of one. */
  expired: 0,
  /** Everything else that a request failed with. */
  failed: 0,
  /** Events out of order, and lists that went back. */
  outOfOrder: 0,
  doubted: 0,
  /** Of all that was told: deletions that only a list showed; those of them whose name was taken again by then; what a resync told again. */
  unseen: 0,
  replaced: 0,
  resynced: 0,
};
export type Coverage = Record<keyof typeof nothingYet, number>;

export interface RunResult {
  /** What an event handler saw that cannot have happened, and where cache and server differ at the end. */
  problems: string[];
  coverage: Coverage;
}

const KIND = '/configmaps';
const NAMES = 60;
// Fewer than the shortest memory of the server for its watches.
const AFTERWARDS = 40;
// Longer than the longest watch, the longest backoff and a half-open connection together.
const CALM_MS = 20 * 60_000;

/** An informer on an API server that fails in every way it can, for so many random changes; then all is calm, and they must agree. */
export async function converge({ seed, changes }: RunOptions): Promise<RunResult> {
  // Each its own: how often the server or the client rolls the dice must not decide what happens in the world.
  const [random, serverRandom] = [seededRandom(seed), seededRandom(seed + 100_000)];
  const [clientRandom, retryRandom] = [seededRandom(seed + 200_000), seededRandom(seed + 300_000)];
  const clock = new FakeClock();
  const api = createLocalApi({
    // One that knows watches with the present state.
    version: 'v1.34.0',
    dynamicKubeletConfig: false,
    clock,
    random: serverRandom,
    log: silentLog,
    watchWindow: 50 + Math.floor(random() * 400),
    bookmarkMs: 10_000,
  });
  const client = localClient(api, { clock, random: retryRandom, timeoutMs: 5_000 });
  const coverage: Coverage = { ...nothingYet };
  const witness = new Witness(coverage);
  const weather = { backdated: false };
  // Either lists that go back and are believed in the end, or replicas that lag behind. Where the history that is believed is older than the objects,
  // "nothing older than what is known" holds no replica back any more, and on no server does both happen.
  const goesBack = seed % 4 >= 2;
  const informer = new SharedInformer<KubeObject>({
    resource: configMaps,
    client: observed(client, coverage, weather),
    clock,
    random: clientRandom,
    log: listening(coverage),
    pageSize: 7,
    streams: seed % 2 === 0,
    frozen: true,
    resyncMs: seed % 3 === 0 ? 4_000 : 0,
    metrics: { ...noReflectorMetrics, listed: () => (coverage.listed += 1) },
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
  coverage.listed -= coverage.streamed;
  return { problems: witness.problems, coverage };
}

/** The same client; what it meets is counted. In bad weather lists say that they are older than they are, as if history had been set back. */
function observed(client: Reads, coverage: Coverage, weather: { backdated: boolean }): Reads {
  const met = (error: unknown): never => {
    if (isExpired(error)) coverage.expired += 1;
    else coverage.failed += 1;
    throw error;
  };
  return {
    listEach: async (...call) => {
      const { resourceVersion, ...metadata } = await client.listEach(...call).catch(met);
      const version = weather.backdated ? '1' : resourceVersion;
      return { ...metadata, ...(version === undefined ? {} : { resourceVersion: version }) };
    },
    watch: <T extends KubeObject>(...call: Parameters<Reads['watch']>) =>
      (async function* (): AsyncGenerator<WatchEvent & { object: T }> {
        try {
          for await (const event of client.watch<T>(...call)) {
            if (event.object.metadata.annotations?.['k8s.io/initial-events-end'] !== undefined) coverage.streamed += 1;
            yield event;
          }
        } catch (error) {
          met(error);
        }
      })(),
  };
}

function listening(coverage: Coverage): Log {
  const note = (text: string, fields: Fields = {}) => {
    if (text.includes('came out of order')) coverage.outOfOrder += 1;
    if (String(fields['error']).includes('was seen before')) coverage.doubted += 1;
  };
  const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
  return log;
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

type Trouble = Readonly<Record<string, unknown>>;

const troubles: readonly Trouble[] = [
  { verb: 'watch', status: 500, probability: 0.3 },
  { verb: 'watch', status: 'drop', probability: 0.3 },
  { verb: 'watch', status: 'half', probability: 0.3 },
  { verb: 'watch', status: 'gone', probability: 0.3 },
  { verb: 'watch', status: 'reset', probability: 0.1 },
  { verb: 'watch', status: 'half-open', count: 1 },
  { verb: 'watch', status: 'delay', ms: 700, probability: 0.5 },
  { verb: 'watch', status: 'duplicate', probability: 0.2 },
  { verb: 'watch', status: 'reorder', probability: 0.05 },
  { verb: 'watch', status: 'truncate', probability: 0.02 },
  { verb: 'watch', status: 'early-gone', probability: 0.02 },
  { verb: 'watch', status: 'lag', ms: 300, probability: 0.05 },
  { verb: 'list', status: 500, probability: 0.3 },
  { verb: 'list', status: 429, probability: 0.3 },
  { verb: 'list', status: 'drop', probability: 0.3 },
  { verb: 'list', status: 'half', probability: 0.3 },
  { verb: 'list', status: 'truncate', probability: 0.3 },
  { verb: 'list', status: 'gone', probability: 0.3 },
  { verb: 'list', status: 'hang', probability: 0.1 },
  // Servers that lag behind catch up: twice in a row, not for ever.
  { verb: 'list', status: 'stale', versions: 40, count: 2 },
];

const steady = troubles.filter(({ status }) => status !== 'stale');

/** Some troubles at a time, now and then a restart, forgotten changes or cut connections. */
async function disturb(api: LocalApi, random: Random, troubles: readonly Trouble[]): Promise<void> {
  const chosen = troubles.filter(() => random() < 0.12).map((trouble) => ({ resource: 'configmaps', ...trouble }));
  const faults: Fault[] = parseFaults(chosen);
  api.hooks.setFaults(faults);
  if (random() < 0.1) api.hooks.compact();
  if (random() < 0.1) api.hooks.dropConnections();
  if (random() < 0.05) await api.hooks.pause();
  else await api.hooks.resume();
}

function compare(informer: SharedInformer<KubeObject>, { hooks: { storage } }: LocalApi, { problems, held }: Witness): void {
  const server = new Map(storage.list(KIND).objects.map((object) => [objectKey(object), object]));
  for (const [key, object] of server) {
    const { uid, resourceVersion } = object.metadata;
    const cached = informer.get(key);
    const isSame = cached?.metadata.uid === uid && cached?.metadata.resourceVersion === resourceVersion;
    if (!isSame || JSON.stringify(cached?.['data']) !== JSON.stringify(object['data'])) {
      problems.push(`${key} is ${uid}@${resourceVersion}, and the cache has ${cached?.metadata.uid}@${cached?.metadata.resourceVersion}`);
    }
    if (held.get(key) !== cached) problems.push(`${key} was not told as the cache has it`);
  }
  for (const object of informer.list())
    if (!server.has(objectKey(object))) problems.push(`${objectKey(object)} is gone, and the cache has it`);
  const newest = [...server.values()].find(({ metadata }) => isOlder(informer.version, metadata.resourceVersion ?? ''));
  if (newest !== undefined)
    problems.push(`the cache says it knows all up to ${informer.version}, and has ${newest.metadata.resourceVersion}`);
  if (isOlder(String(storage.version), informer.version)) problems.push(`the cache says it knows the future, ${informer.version}`);
  for (const key of held.keys()) if (!server.has(key)) problems.push(`${key} is gone, and nobody was told`);
}

/** Believes only what it is told, and notes what cannot be. */
export class Witness {
  readonly problems: string[] = [];
  readonly held = new Map<string, KubeObject>();
  readonly #newest = new Map<string, string>();
  #lastUnseen: string | undefined;
  readonly #coverage: Coverage;

  constructor(coverage: Coverage) {
    this.#coverage = coverage;
  }

  readonly handlers: Handlers<KubeObject> = {
    added: (object) => {
      const key = objectKey(object);
      this.#saw(key, object);
      if (this.held.has(key)) this.#problem(`${key} was added twice`);
      this.held.set(key, object);
      if (this.#lastUnseen === key) this.#coverage.replaced += 1;
      this.#lastUnseen = undefined;
    },
    updated: (before, after) => {
      const key = objectKey(after);
      if (before === after) this.#coverage.resynced += 1;
      if (this.held.get(key) !== before) this.#problem(`${key} was updated from a state that was never told`);
      if (before.metadata.uid !== after.metadata.uid) this.#problem(`${key} became another object in an update`);
      this.#saw(key, after);
      this.held.set(key, after);
    },
    deleted: (last, unseen) => {
      const key = objectKey(last);
      if (this.held.get(key)?.metadata.uid !== last.metadata.uid) this.#problem(`${key} was deleted, and it was not there`);
      this.#saw(key, last);
      this.held.delete(key);
      if (unseen) this.#coverage.unseen += 1;
      this.#lastUnseen = unseen ? key : undefined;
    },
  };

  #saw(key: string, { metadata: { resourceVersion = '' } }: KubeObject): void {
    const newest = this.#newest.get(key);
    if (newest !== undefined && isOlder(resourceVersion, newest)) this.#problem(`${key} went back from ${newest} to ${resourceVersion}`);
    this.#newest.set(key, resourceVersion);
  }

  #problem(text: string): void {
    this.problems.push(text);
  }
}
