import assert from 'node:assert/strict';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { createLocalApi, type LocalApi } from '../../../../apiserver/local-api.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom, type Random } from '../../../../base/random.ts';
import { configMaps, nodes, type KubeObject } from '../../../../kube/api/object.ts';
import { objectKey, type Lister } from '../../../../kube/cache/contract.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isNotFound } from '../../../../kube/client/errors.ts';
import type { Controller } from '../../../../kube/controller/controller.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import { done, type Outcome } from '../../../../kube/controller/outcome.ts';
import { controllerRef, isControlledBy } from '../../../../kube/controller/owner-refs.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { localClient } from '../../../support/embedded-api.ts';

const WANTED = 'wanted';
// Longer than the longest backoff of a key, the expectations and the longest watch together.
const CALM_MS = 40 * 60_000;

/** The smallest controller that is one: each node gets as many ConfigMaps as its label says. */
function replicator(informers: Informers, client: Client, expectations: Expectations): Controller<KubeObject> {
  const primary = informers.of(nodes);
  const owned = informers.of(configMaps, { indexes: { owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid) } });
  return {
    name: 'replicator',
    primary,
    owns: [{ of: owned, expectations }],
    gone: (key) => expectations.forget(key),
    reconcile: (key) => reconcile(key, { nodes: primary, owned, client, expectations }),
  };
}

interface World {
  nodes: Lister<KubeObject>;
  owned: Lister<KubeObject>;
  client: Client;
  expectations: Expectations;
}

async function reconcile(key: string, { nodes: primaries, owned, client, expectations }: World): Promise<Outcome> {
  const node = primaries.get(key);
  if (node === undefined) return done;
  const wait = expectations.expiresIn(key);
  if (wait !== undefined) return { requeueAfter: wait, why: 'the cache has not shown what was done' };
  const have = owned
    .indexed('owner', node.metadata.uid ?? '')
    .filter((object) => isControlledBy(object, node) && object.metadata.deletionTimestamp === undefined);
  const missing = Number(node.metadata.labels?.[WANTED] ?? 0) - have.length;
  const surplus = have.slice(0, Math.max(0, -missing)).map(({ metadata: { name = '', uid = '' } }) => ({ name, uid }));
  const pass = expectations.expect(key, { creations: Math.max(0, missing), deletions: surplus.map(({ uid }) => uid) });
  const calls = [
    ...Array.from({ length: Math.max(0, missing) }, async () => {
      const made: KubeObject = { metadata: { generateName: `${key}-`, ownerReferences: [controllerRef(node, nodes)] } };
      try {
        const { metadata } = await client.create(configMaps, made, { namespace: 'default' });
        pass.created(metadata.uid ?? '');
      } catch (error) {
        pass.lost();
        throw error;
      }
    }),
    ...surplus.map(async ({ name, uid }) => {
      try {
        await client.delete(configMaps, { namespace: 'default', name }, { body: { preconditions: { uid } } });
      } catch (error) {
        pass.notDeleted(uid);
        if (!isNotFound(error)) throw error;
      }
    }),
  ];
  for (const result of await Promise.allSettled(calls)) if (result.status === 'rejected') throw result.reason;
  return done;
}

const troubles: readonly Record<string, unknown>[] = [
  { verb: 'create', resource: 'configmaps', status: 500, probability: 0.3 },
  { verb: 'create', resource: 'configmaps', status: 'half', probability: 0.3 },
  { verb: 'delete', resource: 'configmaps', status: 500, probability: 0.3 },
  { verb: 'delete', resource: 'configmaps', status: 'drop', probability: 0.3 },
  { verb: 'watch', resource: 'configmaps', status: 'gone', probability: 0.3 },
  { verb: 'watch', resource: 'configmaps', status: 'lag', ms: 300, probability: 0.2 },
  { verb: 'watch', resource: 'nodes', status: 'drop', probability: 0.3 },
  { verb: 'list', resource: 'nodes', status: 500, probability: 0.3 },
];

/**
 * A controller with all that is under it, on an API server that fails, with restarts in between; then all is calm.
 * @returns what is not as it should be
 */
export async function replicate(seed: number, rounds: number): Promise<string[]> {
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const api = createLocalApi({ clock, random, log: silentLog, bookmarkMs: 10_000 });
  const client = localClient(api, { clock, random, timeoutMs: 5_000 });
  let run = start(client, clock, random);
  const problems: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let changes = Math.floor(random() * 8); changes > 0; changes--) change(api, random);
    api.hooks.setFaults(parseFaults(troubles.filter(() => random() < 0.2)));
    await clock.advance(random() * 3_000);
    if (random() < 0.1) {
      problems.push(...(await run.stop()));
      run = start(client, clock, random);
    }
  }
  api.hooks.setFaults([]);
  await clock.advance(CALM_MS);
  problems.push(...compare(api), ...run.unrest(), ...(await run.stop()));
  await client.close();
  api.stop();
  return problems;
}

function start(client: Client, clock: FakeClock, random: Random) {
  const informers = new Informers({ client, clock, random, log: silentLog });
  const queue = new WorkQueue('replicator', { clock });
  const expectations = new Expectations(clock);
  const controller = replicator(informers, client, expectations);
  const busy = new Set<string>();
  const twice: string[] = [];
  const watched: Controller<KubeObject> = {
    ...controller,
    reconcile: async (key, signal) => {
      if (busy.has(key)) twice.push(`${key} was reconciled twice at once`);
      busy.add(key);
      try {
        return await controller.reconcile(key, signal);
      } finally {
        busy.delete(key);
      }
    },
  };
  const ending = new AbortController();
  const listing = informers.run(ending.signal);
  const working = runController(watched, { queue, workers: 3, log: silentLog, clock, drainMs: 1_000 }, ending.signal);
  return {
    /** What a controller at rest has no more of. */
    unrest: (): string[] => {
      const sizes = {
        line: queue.length,
        workers: queue.processing,
        delayed: queue.delayed,
        failing: queue.failing,
        waits: expectations.size,
      };
      return Object.entries(sizes).flatMap(([what, size]) => (size === 0 ? [] : [`${what}: ${size} at rest`]));
    },
    stop: async (): Promise<string[]> => {
      ending.abort();
      await clock.advance(10_000);
      await Promise.all([listing, working]);
      return [...twice, ...(queue.processing === 0 ? [] : ['a worker is left']), ...(queue.delayed === 0 ? [] : ['a delay is left'])];
    },
  };
}

function change(api: LocalApi, random: Random): void {
  const { storage } = api.hooks;
  const name = `node-${Math.floor(random() * 6)}`;
  const before = storage.get('/nodes', name);
  const dice = random();
  if (dice < 0.3) {
    // Somebody else deletes a ConfigMap.
    const victim = storage.list('/configmaps').objects.find(() => random() < 0.2);
    if (victim !== undefined) storage.remove('/configmaps', objectKey(victim));
    return;
  }
  if (dice < 0.4 && before !== undefined) storage.remove('/nodes', name);
  // Half of the deleted ones are back at once, as others.
  if (dice < 0.35) return;
  const uid = dice < 0.4 || before === undefined ? `uid-${storage.version}` : before.metadata.uid;
  assert.ok(uid !== undefined);
  storage.put('/nodes', name, { metadata: { name, uid, labels: { [WANTED]: String(Math.floor(random() * 5)) } } });
}

function compare({ hooks: { storage } }: LocalApi): string[] {
  const owned = storage.list('/configmaps').objects.filter(({ metadata }) => metadata.ownerReferences !== undefined);
  const all = storage.list('/nodes').objects;
  const wrong = all.flatMap((node) => {
    const have = owned.filter((object) => isControlledBy(object, node)).length;
    const want = node.metadata.labels?.[WANTED];
    return String(have) === want ? [] : [`${node.metadata.name} wants ${want} and has ${have}`];
  });
  const stray = owned.filter((object) => !all.some((node) => isControlledBy(object, node)));
  return [...wrong, ...stray.map(objectKey).map((key) => `${key} has no owner`)];
}
