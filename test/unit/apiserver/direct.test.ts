import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import type { LocalApi } from '../../../apiserver/local-api.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const at = { name: 'a', namespace: 'default' };
const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at };

describe('a client without sockets', () => {
  let clock: FakeClock;
  let api: LocalApi;
  let client: Client;
  beforeEach(() => {
    clock = new FakeClock();
    api = localApi(clock);
    client = localClient(api, { clock });
  });
  const set = (fault: object) => api.hooks.setFaults(parseFaults([{ verb: '*', resource: '*', count: 1, ...fault }]));

  test('is somebody, or refused', async () => {
    const stranger = createClient({ origin: 'the test', server: 'http://embedded.invalid', token: 'x' }, { clock, dial: api.dial });
    await assert.rejects(stranger.get(configMaps, at), { code: 401 });
  });

  const faults = [
    { fault: { status: 503 }, says: { code: 503 }, done: false },
    { fault: { status: 'drop' }, says: { problem: 'cut' }, done: false },
    { fault: { status: 'reset' }, says: { problem: 'cut' }, done: false },
    { fault: { status: 'half' }, says: { problem: 'cut' }, done: true },
    { fault: { status: 'truncate' }, says: { name: 'TransportError' }, done: true },
    { fault: { status: 'gone' }, says: { code: 410 }, done: false },
  ];
  for (const { fault, says, done } of faults) {
    test(`fails as over a socket: ${fault.status}`, async () => {
      set({ ...fault, verb: 'create' });
      await assert.rejects(client.create(configMaps, made), says);
      assert.equal(api.hooks.storage.get('/configmaps', 'default/a') !== undefined, done);
    });
  }

  for (const fault of ['hang', 'half-open']) {
    test(`waits for its deadline: ${fault}`, async () => {
      set({ fault, verb: 'create' });
      const call = client.create(configMaps, made, { timeoutMs: 500 }).then(
        () => 'done',
        (error: { problem: string }) => error.problem,
      );
      await clock.advance(500);
      assert.equal(await call, 'timeout');
      assert.equal(clock.sleepers, 0);
    });
  }

  test('hears nothing any more on a connection that is half open', async () => {
    const heard: string[] = [];
    const watch = async () => {
      for await (const { object } of client.watch(configMaps, { timeoutSeconds: 60 }, new AbortController().signal)) {
        heard.push(object.metadata.name ?? '');
      }
    };
    const watching = watch().catch((error: { problem: string }) => heard.push(error.problem));
    await atRest();
    set({ fault: 'half-open', verb: 'get' });
    void client.raw('GET', '/version', { timeoutMs: 10 }).catch(() => undefined);
    await clock.advance(10);
    api.add(made);
    await clock.advance(89_989);
    assert.deepEqual(heard, []);
    await clock.advance(10_001);
    await watching;
    assert.deepEqual(heard, ['timeout']);
  });

  test('loses its watches when connections are dropped, and connects again', async () => {
    const watch = client.watch(configMaps, {}, new AbortController().signal)[Symbol.asyncIterator]();
    const next = watch.next();
    await atRest();
    api.hooks.dropConnections();
    await assert.rejects(next, { problem: 'cut' });
    assert.ok(await client.raw('GET', '/version'));
  });

  test('finds nobody while the server is away', async () => {
    await api.hooks.pause();
    await assert.rejects(client.raw('GET', '/version'), { name: 'TransportError' });
    await api.hooks.resume();
    assert.ok(await client.raw('GET', '/version'));
  });
});
