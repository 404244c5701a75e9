import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeList } from '../../../kube/api/object.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };

function world(...faults: object[]) {
  const clock = new FakeClock();
  const api = localApi(clock, { faults: parseFaults(faults) });
  const client = localClient(api, { clock });
  return {
    clock,
    api,
    client,
    set: (fault: object) => api.hooks.setFaults(parseFaults([{ verb: '*', resource: '*', count: 1, ...fault }])),
    /** Makes these config maps in one turn. @returns the version that the server has then */
    make: (...names: string[]): string => {
      for (const name of names) api.add({ ...made, metadata: { name } });
      return String(api.hooks.storage.version);
    },
    /** Hears a watch from now on; its end is told as `ended` or by the error. */
    watch: async (): Promise<string[]> => {
      const heard: string[] = [];
      const query = { resourceVersion: String(api.hooks.storage.version), timeoutSeconds: 600 };
      const listen = async () => {
        for await (const { type, object } of client.watch(configMaps, query, new AbortController().signal))
          if (type !== 'BOOKMARK') heard.push(object.metadata.name ?? '');
      };
      const told = (error: unknown) => heard.push(error instanceof ApiError ? String(error.code) : (error as { problem: string }).problem);
      void listen().then(() => heard.push('ended'), told);
      await atRest();
      return heard;
    },
  };
}

describe('a client without sockets', () => {
  const faults = [
    { status: 503, says: { code: 503 }, done: false },
    { status: 'drop', says: { problem: 'cut' }, done: false },
    { status: 'reset', says: { problem: 'cut' }, done: false },
    { status: 'half', says: { problem: 'cut' }, done: true },
    { status: 'truncate', says: { name: 'TransportError' }, done: true },
    { status: 'gone', says: { code: 410 }, done: false },
  ];
  for (const { status, says, done } of faults)
    test(`fails as over a socket: ${status}`, async () => {
      const { client, set, api } = world();
      set({ status, verb: 'create' });
      await assert.rejects(client.create(configMaps, made), says);
      assert.equal(api.hooks.storage.get('/configmaps', 'default/a') !== undefined, done);
    });

  for (const fault of ['hang', 'half-open'])
    test(`waits for its deadline: ${fault}`, async () => {
      const { client, set, clock } = world();
      set({ fault, verb: 'create' });
      const call = client.create(configMaps, made, { timeoutMs: 500 }).then(String, (error: { problem: string }) => error.problem);
      await clock.advance(500);
      assert.deepEqual([await call, clock.sleepers], ['timeout', 0]);
    });

  test('loses its watches when connections are dropped, is refused as a stranger, and finds nobody while the server is away', async () => {
    const { client, api, watch, clock } = world();
    const heard = await watch();
    api.hooks.dropConnections();
    await atRest();
    assert.deepEqual(heard, ['cut']);
    await assert.rejects(localClient(api, { clock }, 'x').get(configMaps, { name: 'a', namespace: 'default' }), { code: 401 });
    await api.hooks.pause();
    await assert.rejects(client.raw('GET', '/version'), { name: 'TransportError' });
    await api.hooks.resume();
    assert.ok(await client.raw('GET', '/version'));
  });
});

describe('faults of events', () => {
  const watching = { verb: 'watch', resource: 'configmaps' };
  const cases = [
    { why: 'tells an event twice', fault: { fault: 'duplicate', count: 1 }, heard: 'a a b c' },
    { why: 'swaps pairs, and leaves the last one alone when it has no partner', fault: { fault: 'reorder' }, heard: 'b a c' },
    { why: 'tells 410 instead of an event', fault: { fault: 'early-gone', after: 1 }, heard: 'a 410' },
    { why: 'ends in the middle of an event', fault: { fault: 'truncate', after: 2 }, heard: 'a b cut' },
    { why: 'is about the object that an event tells of', fault: { fault: 'duplicate', name: 'b' }, heard: 'a b b c' },
    { why: 'counts events', fault: { fault: 'duplicate', after: 1, count: 2 }, heard: 'a b b c c' },
    { why: 'leaves other kinds alone', fault: { fault: 'duplicate', resource: 'nodes' }, heard: 'a b c' },
  ];
  for (const { why, fault, heard } of cases)
    test(why, async () => {
      const { watch, make } = world({ ...watching, ...fault });
      const events = await watch();
      make('a', 'b', 'c');
      await atRest();
      assert.equal(events.join(' '), heard);
    });

  test('tells an event and all after it late, loses none, and leaves no timer behind', async () => {
    const { watch, make, clock, api } = world({ ...watching, fault: 'lag', ms: 500, after: 1 });
    const events = await watch();
    make('a', 'b', 'c');
    await clock.advance(499);
    assert.deepEqual(events, ['a']);
    await clock.advance(501);
    assert.deepEqual(events, ['a', 'b', 'c']);
    make('d');
    await atRest();
    api.stop();
    await atRest();
    assert.deepEqual([events.at(-1), clock.sleepers], ['cut', 0]);
  });
});

describe('a stale answer', () => {
  const names = (list: KubeList) => list.items.map(({ metadata }) => metadata.name).join(' ');
  const stale = (versions: number) => ({ verb: '*', resource: 'configmaps', fault: 'stale', versions });
  const any = { resourceVersion: '0' };

  test('is the state of some changes ago, under its version, and to a watch what changed since as well', async () => {
    const { client, make } = world(stale(2));
    const version = Number(make('a', 'b', 'c', 'd'));
    const list = await client.list(configMaps, any);
    assert.deepEqual([names(list), list.metadata.resourceVersion], ['a b', String(version - 2)]);
    const heard: string[] = [];
    for await (const { object } of client.watch(configMaps, any, new AbortController().signal))
      if (heard.push(object.metadata.name ?? '') === 4) break;
    assert.deepEqual(heard, ['a', 'b', 'c', 'd']);
  });

  test('is never older than what was asked for, or than what is remembered', async () => {
    const { client, make, api } = world(stale(100));
    const resourceVersion = make('a', 'b');
    make('c');
    assert.equal(names(await client.list(configMaps, { resourceVersion, resourceVersionMatch: 'NotOlderThan' })), 'a b');
    api.hooks.compact();
    make('d');
    assert.equal(names(await client.list(configMaps, any)), 'a b c');
  });

  test('of one object is what it was, or that it is not there', async () => {
    const { client, make } = world(stale(1));
    make('a');
    const get = () => client.raw('GET', '/api/v1/namespaces/default/configmaps/a?resourceVersion=0');
    await assert.rejects(get(), { code: 404 });
    make('b');
    assert.ok(await get());
  });
});
