import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { realRandom } from '../../../../base/random.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { objectKey, type Informer } from '../../../../kube/cache/contract.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { nothingYet, Witness } from '../../../unit/kube/cache/convergence.ts';
import { Gate } from '../gate.ts';
import type { RuntimeWorld } from './world.ts';

const [clock, random] = [realClock, realRandom];

/** Objects of the big list, and how many a page has: the last page is not full. */
const MANY = { objects: 1_300, page: 500 };
const AT_ONCE = 16;

/** A cache over restarts of the server, and versions that it forgot. */
export function cacheStory(world: RuntimeWorld): void {
  test('a cache read in pages ends equal to the server, over restarts and forgotten versions', async () => {
    const { plane, admin } = world;
    const namespace = await world.inNamespace('many');
    const name = (n: number): string => `map-${String(n).padStart(4, '0')}`;
    const make = (n: number, round: number): Promise<KubeObject> =>
      admin.create<KubeObject>(configMaps, {
        metadata: { name: name(n), namespace, labels: { suite: 'many' } },
        data: { round: String(round) },
      });
    const change = (n: number, round: number): Promise<KubeObject> =>
      admin.patch(configMaps, { name: name(n), namespace }, { data: { round: String(round) } }, { type: 'merge' });
    const remove = (n: number): Promise<void> => admin.delete(configMaps, { name: name(n), namespace });
    const all = Array.from({ length: MANY.objects }, (_, n) => n);
    await each(all, (n) => make(n, 0));

    const { log, lines } = recordedLog();
    const asked: string[] = [];
    const watching = new Gate(world.clientOf(), (what) => asked.push(what));
    const ending = new AbortController();
    const informers = new Informers({ client: watching, clock, random, log, frozen: true, pageSize: MANY.page });
    const cache = informers.of<KubeObject>(configMaps, {}, { namespace });
    const coverage = { ...nothingYet };
    const witness = new Witness(coverage);
    cache.addHandlers('witness', witness.handlers);
    const running = informers.run(ending.signal);
    try {
      await informers.whenSynced(AbortSignal.timeout(90_000));
      // Out of its memory the server gives all at once, whatever the page.
      assert.deepEqual(asked.slice(0, 2), ['stream', 'list']);
      assert.equal(cache.size, MANY.objects);

      // Round 1: changes while the server is away for a moment; those that fail count as not made.
      const restarted = plane.restartApiServer();
      await each(all.slice(0, 200), (n) => change(n, 1).catch(() => {}));
      await restarted;
      await each(all.slice(0, 100), (n) => change(n, 2));
      await each(all.slice(100, 120), remove);
      await each(all.slice(110, 120), (n) => make(n, 3));
      await equalToServer(admin, cache, namespace);

      // Round 2: what happens while nobody can watch is forgotten before the cache is back.
      asked.length = 0;
      const seen = cache.version;
      watching.hold();
      await each(all.slice(300, 400), (n) => change(n, 4));
      await each(all.slice(400, 440), remove);
      await each(all.slice(420, 440), (n) => make(n, 5));
      assert.ok((await plane.compact()) > Number(seen));
      await plane.restartApiServer();
      watching.release();
      await change(500, 6);
      await equalToServer(admin, cache, namespace);
      assert.deepEqual(
        asked.filter((what) => what !== 'watch'),
        ['list', 'next page', 'next page'],
      );
      assert.equal(coverage.unseen, 40, 'deletions that nobody saw are told as such');
      assert.equal(coverage.replaced, 20, 'of those, names that another object has');
      assert.deepEqual(witness.problems, []);
      assert.deepEqual(sorted(witness.held.values()), sorted(cache.list()));
      assert.deepEqual(informers.troubled, []);
      assert.deepEqual(
        lines.filter((line) => line.startsWith('error')),
        [],
      );
    } finally {
      watching.release();
      ending.abort();
      await running;
    }
  });
}

/** Calls for each item, a few at a time. */
async function each<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await call(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function sorted(objects: Iterable<Readonly<KubeObject>>): Readonly<KubeObject>[] {
  return [...objects].toSorted((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1));
}

async function equalToServer(client: Client, cache: Informer<KubeObject>, namespace: string): Promise<void> {
  const stateOf = (objects: Iterable<Readonly<KubeObject>>): string =>
    JSON.stringify(
      sorted(objects).map((object) => [object.metadata.name, object.metadata.uid, object.metadata.resourceVersion, object['data']]),
    );
  const there: KubeObject[] = [];
  await client.listEach<KubeObject>(configMaps, { namespace }, (item) => there.push(item));
  const state = stateOf(there);
  await eventually('the cache is equal to the server', () => Promise.resolve(stateOf(cache.list()) === state ? true : undefined), 90_000);
}
