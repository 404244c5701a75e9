import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startApiServer } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { configMaps } from '../../../kube/api/object.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { isExpired } from '../../../kube/client/errors.ts';
import type { AddressInfo, Socket } from 'node:net';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';

/** What a process holds that a leak would add to. */
interface Holdings {
  resources: Record<string, number>;
  heapMb: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function holdings(timers: ReadonlySet<number>): Holdings {
  const resources: Record<string, number> = { 'any Timeout': timers.size };
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  collectGarbage();
  return { resources, heapMb: process.memoryUsage().heapUsed / 2 ** 20 };
}

export interface Reconnected {
  /** Versions that a watch saw, the first to the last; none may be missing. */
  missed: number;
  failures: number;
  before: Holdings;
  after: Holdings;
}

const map = (value: number): KubeObject => ({ metadata: { name: 'cm', namespace: 'default' }, data: { value: String(value) } });

/**
 * A client whose connections are cut `times` times, by resets and by plain ends in turn, while a raw watch loop and requests go on; before and after are
 * measured with one connection open and the same watch running.
 */
export async function reconnect(times: number): Promise<Reconnected> {
  await using undo = new AsyncDisposableStack();
  // Node does not count timers among its resources that keep no process alive.
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  undo.defer(() => void hook.disable());
  const server = await startApiServer({ clock: realClock, random: seededRandom(1), log: silentLog });
  undo.defer(() => server.stop());
  // A relay of the test's own, so that it decides how a connection ends.
  const relayed = new Set<Socket>();
  const relay = createServer((inner) => {
    const outer = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const [from, into] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        relayed.delete(inner);
        into.destroy();
      });
      from.pipe(into);
    }
    relayed.add(inner);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  undo.defer(() => {
    for (const socket of relayed) socket.destroy();
    relay.close();
  });
  const url = `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const client = createClient({ origin: 'test', server: url, ca: { data: server.caPem }, token: server.token });
  undo.defer(() => client.close());
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', ...map(0) });
  const seen = new Sightings();
  const stop = new AbortController();
  const watching = follow(client, seen, stop.signal);
  undo.defer(async () => {
    stop.abort();
    await watching;
  });
  const write = async (value: number) => {
    const again = () => client.patch(configMaps, { name: 'cm', namespace: 'default' }, { data: map(value)['data'] }, { type: 'merge' });
    await again().catch(again).catch(again);
    await seen.until(value);
  };
  // The first ones warm up what is kept on purpose.
  for (let n = 1; n <= 10; n++) await cutAndWrite(relayed, n, write);
  const before = await settled(timers);
  const failuresBefore = seen.failures;
  for (let n = 11; n <= 10 + times; n++) await cutAndWrite(relayed, n, write);
  return { missed: seen.missed, failures: seen.failures - failuresBefore, before, after: await settled(timers) };
}

async function cutAndWrite(relayed: Set<Socket>, n: number, write: (value: number) => Promise<void>): Promise<void> {
  const cut = [...relayed];
  for (const socket of cut) {
    if (n % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
  await write(n);
}

/** Sockets need a few turns to be closed on both sides. */
async function settled(timers: ReadonlySet<number>): Promise<Holdings> {
  for (let turn = 0; turn < 20; turn++) await realClock.sleep(10);
  return holdings(timers);
}

/** A watch as an informer keeps it: from the last version on after every end. */
async function follow(client: Client, seen: Sightings, signal: AbortSignal): Promise<void> {
  let rv: string | undefined;
  while (!signal.aborted) {
    try {
      if (rv === undefined) {
        const list = await client.list(configMaps, { namespace: 'default', fieldSelector: 'metadata.name=cm' }, { signal });
        rv = list.metadata.resourceVersion;
        for (const item of list.items) seen.add(item);
      }
      for await (const { object } of client.watch(
        configMaps,
        { namespace: 'default', ...(rv === undefined ? {} : { resourceVersion: rv }) },
        signal,
      )) {
        rv = object.metadata.resourceVersion;
        if (object.metadata.name === 'cm') seen.add(object);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) rv = undefined;
      seen.failures++;
    }
  }
}

class Sightings {
  missed = 0;
  failures = 0;
  #last = -1;
  #wake = () => {};
  add(object: KubeObject): void {
    const value = Number((object['data'] as Record<string, string> | undefined)?.['value'] ?? 0);
    if (this.#last >= 0 && value > this.#last + 1) this.missed += value - this.#last - 1;
    this.#last = Math.max(this.#last, value);
    this.#wake();
  }
  async until(value: number): Promise<void> {
    while (this.#last < value) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/** @param moreMb - what the heap may have grown by */
export function assertNothingLeaked({ before, after, missed }: Reconnected, moreMb: number): void {
  assert.equal(missed, 0, 'a change was missed');
  for (const [name, count] of Object.entries(after.resources)) {
    assert.ok(count <= (before.resources[name] ?? 0) + 2, `${name}: ${before.resources[name] ?? 0} before, ${count} after`);
  }
  assert.ok(after.heapMb - before.heapMb < moreMb, `heap: ${before.heapMb.toFixed(1)} MB before, ${after.heapMb.toFixed(1)} MB after`);
}
