import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import type { LocalApi } from '../../../apiserver/local-api.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeList } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

interface World {
  clock: FakeClock;
  api: LocalApi;
  client: Client;
  /** Makes these config maps in one turn. */
  make: (...names: string[]) => void;
  /** Hears a watch from now on; its end is told as `ended` or the name of the error. */
  watch: () => Promise<string[]>;
}

function world(...faults: object[]): World {
  const clock = new FakeClock();
  const api = localApi(clock, { faults: parseFaults(faults) });
  const client = localClient(api, { clock });
  return {
    clock,
    api,
    client,
    make(...names) {
      for (const name of names) api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    },
    async watch() {
      const heard: string[] = [];
      const query = { resourceVersion: String(api.hooks.storage.version), timeoutSeconds: 600 };
      const listen = async () => {
        for await (const { type, object } of client.watch(configMaps, query, new AbortController().signal)) {
          if (type !== 'BOOKMARK') heard.push(`${type} ${object.metadata.name}`);
        }
      };
      void listen().then(
        () => heard.push('ended'),
        (error: unknown) => heard.push(error instanceof ApiError ? String(error.code) : (error as { problem: string }).problem),
      );
      await atRest();
      return heard;
    },
  };
}

const watching = { verb: 'watch', resource: 'configmaps' };

describe('faults of events', () => {
  const cases = [
    { why: 'tells an event twice', fault: { fault: 'duplicate', count: 1 }, heard: 'a a b c' },
    { why: 'tells two events in the wrong order', fault: { fault: 'reorder', count: 1 }, heard: 'b a c' },
    { why: 'swaps pairs, and leaves the last one alone when it has no partner', fault: { fault: 'reorder' }, heard: 'b a c' },
    { why: 'tells 410 instead of an event', fault: { fault: 'early-gone', after: 1 }, heard: 'a 410' },
    { why: 'ends in the middle of an event', fault: { fault: 'truncate', after: 2 }, heard: 'a b cut' },
    { why: 'is about the object that an event tells of', fault: { fault: 'duplicate', name: 'b' }, heard: 'a b b c' },
    { why: 'counts events', fault: { fault: 'duplicate', after: 1, count: 2 }, heard: 'a b b c c' },
    { why: 'leaves other kinds alone', fault: { fault: 'duplicate', resource: 'nodes' }, heard: 'a b c' },
  ];
  for (const { why, fault, heard } of cases) {
    test(why, async () => {
      const { watch, make } = world({ ...watching, ...fault });
      const events = await watch();
      make('a', 'b', 'c');
      await atRest();
      assert.equal(events.map((event) => event.replace('ADDED ', '')).join(' '), heard);
    });
  }

  test('tells an event and all after it late, and loses none', async () => {
    const { watch, make, clock } = world({ ...watching, fault: 'lag', ms: 500, after: 1, count: 1 });
    const events = await watch();
    make('a', 'b', 'c');
    await clock.advance(499);
    assert.deepEqual(events, ['ADDED a']);
    await clock.advance(1);
    assert.deepEqual(events, ['ADDED a', 'ADDED b', 'ADDED c']);
  });

  test('take hold of a watch that was there before them', async () => {
    const { watch, make, api } = world();
    const events = await watch();
    api.hooks.setFaults(parseFaults([{ ...watching, fault: 'early-gone' }]));
    make('a');
    await atRest();
    assert.deepEqual(events, ['410']);
  });

  test('leave bookmarks alone', async () => {
    const { watch, clock } = world({ ...watching, fault: 'early-gone' });
    const events = await watch();
    await clock.advance(300_000);
    assert.deepEqual(events, []);
  });

  test('leave no timer behind', async () => {
    const { watch, make, clock, api } = world({ ...watching, fault: 'lag', ms: 5000 });
    const events = await watch();
    make('a');
    await atRest();
    api.stop();
    await atRest();
    assert.deepEqual(events, ['cut']);
    assert.equal(clock.sleepers, 0);
  });
});

describe('a stale answer', () => {
  const names = (list: KubeList) => list.items.map(({ metadata }) => metadata.name).join(' ');
  const stale = (versions: number) => ({ verb: '*', resource: 'configmaps', fault: 'stale', versions });

  test('is the state of some changes ago, under its version', async () => {
    const { client, make, api } = world(stale(2));
    make('a', 'b', 'c', 'd');
    const { version } = api.hooks.storage;
    const list = await client.list(configMaps, { resourceVersion: '0' });
    assert.equal(names(list), 'a b');
    assert.equal(list.metadata.resourceVersion, String(version - 2));
  });

  test('is never older than what was asked for', async () => {
    const { client, make, api } = world(stale(100));
    make('a', 'b');
    const resourceVersion = String(api.hooks.storage.version);
    make('c');
    assert.equal(names(await client.list(configMaps, { resourceVersion, resourceVersionMatch: 'NotOlderThan' })), 'a b');
  });

  test('is given neither to who wants the newest nor to who wants one version, and that uses up no count', async () => {
    const { client, make, api } = world({ ...stale(2), count: 1 });
    make('a', 'b', 'c');
    assert.equal(names(await client.list(configMaps)), 'a b c');
    const resourceVersion = String(api.hooks.storage.version);
    assert.equal(names(await client.list(configMaps, { resourceVersion, resourceVersionMatch: 'Exact' })), 'a b c');
    assert.equal(names(await client.list(configMaps, { resourceVersion: '0' })), 'a');
    assert.equal(names(await client.list(configMaps, { resourceVersion: '0' })), 'a b c');
  });

  test('goes no further back than what is remembered', async () => {
    const { client, make, api } = world(stale(100));
    make('a');
    api.hooks.compact();
    make('b');
    assert.equal(names(await client.list(configMaps, { resourceVersion: '0' })), 'a');
  });

  test('of one object is what it was, or that it is not there', async () => {
    const { client, make, api } = world(stale(1));
    make('a');
    await assert.rejects(client.raw('GET', '/api/v1/namespaces/default/configmaps/a?resourceVersion=0'), { code: 404 });
    api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } });
    assert.ok(await client.raw('GET', '/api/v1/namespaces/default/configmaps/a?resourceVersion=0'));
  });

  test('to a watch from any version is an old state first, and then what changed since', async () => {
    const { client, make } = world(stale(1));
    make('a', 'b');
    const heard: string[] = [];
    const stop = new AbortController();
    for await (const { object } of client.watch(configMaps, { resourceVersion: '0' }, stop.signal)) {
      heard.push(object.metadata.name ?? '');
      if (heard.length === 2) break;
    }
    assert.deepEqual(heard, ['a', 'b']);
  });
});
