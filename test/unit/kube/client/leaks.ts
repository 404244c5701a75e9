import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { realClock } from '../../../../base/clock.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { isExpired } from '../../../../kube/client/errors.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { CuttingServer } from './cutting-server.ts';

/** What a process holds that a leak would add to. */
interface Holdings {
  resources: Record<string, number>;
  /** Bytes of objects on the heap, without machine code: V8 compiles the same functions again and again, and forgets that when it likes. */
  objects: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Not every moment has the same of them under way. */
const MORE_HANDLES = 2;
/** How long sockets have to be closed on both sides; only a leak takes as long. */
const CLOSE_MS = 30_000;

function handles(timers: ReadonlySet<number>): Record<string, number> {
  const resources: Record<string, number> = { 'any Timeout': timers.size };
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  return resources;
}

/** What there is more of than there was, as `NAME: BEFORE before, NOW after`. */
function grown(before: Readonly<Record<string, number>>, now: Readonly<Record<string, number>>): string[] {
  const more = Object.entries(now).filter(([name, count]) => count > (before[name] ?? 0) + MORE_HANDLES);
  return more.map(([name, count]) => `${name}: ${before[name] ?? 0} before, ${count} after`);
}

function holdings(timers: ReadonlySet<number>): Holdings {
  const resources = handles(timers);
  collectGarbage();
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^(new|old|large|new_large)_(object_)?space$/.test(space_name));
  return { resources, objects: spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0) };
}

export interface Reconnected {
  /** Versions that a watch did not see, of those between the first and the last. */
  missed: number;
  failures: number;
  /** At the start, and after each part. */
  held: readonly [Holdings, ...Holdings[]];
}

const map = (value: number): KubeObject => ({ metadata: { name: 'cm', namespace: 'default' }, data: { value: String(value) } });

/**
 * A client whose connections are cut, by resets and by plain ends in turn, while a raw watch loop and requests go on. What it holds is measured with
 * one connection open and the watch running.
 * @param plan - so many parts of so many cuts
 */
export async function reconnect(server: CuttingServer, { parts, cuts }: { parts: number; cuts: number }): Promise<Reconnected> {
  await using undo = new AsyncDisposableStack();
  // Node does not count timers among its resources that keep no process alive.
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  undo.defer(() => void hook.disable());
  const client = createClient({ origin: 'test', server: server.url, ca: { data: server.caPem }, token: server.token });
  undo.defer(() => client.close());
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', ...map(0) });
  const seen = new Sightings();
  const stop = new AbortController();
  const watching = follow(client, seen, stop.signal);
  undo.defer(async () => {
    stop.abort();
    await watching;
  });
  let value = 0;
  const cutAndWrite = async (): Promise<void> => {
    value += 1;
    const data = map(value)['data'];
    await server.cut(value % 2 === 0 ? 'reset' : 'end');
    const write = () => client.patch(configMaps, { name: 'cm', namespace: 'default' }, { data }, { type: 'merge' });
    let written: Promise<unknown> = write();
    for (let again = 0; again < 10; again++) written = written.catch(write);
    await written;
    await seen.until(value);
  };
  // The first ones warm up what is kept on purpose.
  for (let n = 0; n < 10; n++) await cutAndWrite();
  const before = seen.failures;
  const held: [Holdings, ...Holdings[]] = [await settled(timers)];
  for (let part = 0; part < parts; part++) {
    for (let n = 0; n < cuts; n++) await cutAndWrite();
    held.push(await settled(timers, held[0]));
  }
  return { missed: seen.missed, failures: seen.failures - before, held };
}

/** Sockets need a few turns to be closed on both sides, on a busy machine more than a few: until there are no more than there were. */
async function settled(timers: ReadonlySet<number>, before?: Holdings): Promise<Holdings> {
  for (let turn = 0; turn < 20; turn++) await realClock.sleep(10);
  if (before !== undefined)
    for (const end = performance.now() + CLOSE_MS; performance.now() < end && grown(before.resources, handles(timers)).length > 0;)
      await realClock.sleep(50);
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

/** No change was missed, and there are as many sockets, timers and other handles as there were. */
export function assertNothingLeaked({ held, missed }: Reconnected): void {
  assert.equal(missed, 0, 'a change was missed');
  const [before] = held;
  assert.deepEqual(grown(before.resources, held.at(-1)?.resources ?? {}), []);
}
