import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { cuttingServer } from './cutting-server.ts';
import { assertNothingLeaked, reconnect } from './leaks.ts';
import { apiServer } from '../../../support/embedded-api.ts';

// Thousands of them, and what they leave in memory: test/suites/endurance/reconnects.test.ts
test('fifty cut connections leave no socket and no timer behind, and no change is missed', { timeout: 120_000 }, async () => {
  await using server = await cuttingServer();
  assertNothingLeaked(await reconnect(server, { parts: 1, cuts: 50 }));
});

test('what changes while the server restarts is told by the next watch, once and in order', { timeout: 120_000 }, async (t) => {
  const server = await apiServer();
  const client = createClient({ origin: 'test', server: server.url, ca: { data: server.caPem }, token: server.token });
  const stop = new AbortController();
  const seen: string[] = [];
  let wake = () => {};
  const { metadata } = await client.list(configMaps);
  const watching = (async () => {
    for (let rv = metadata.resourceVersion ?? ''; !stop.signal.aborted; await realClock.sleep(5)) {
      try {
        for await (const { object } of client.watch(configMaps, { resourceVersion: rv }, stop.signal)) {
          rv = object.metadata.resourceVersion ?? '';
          seen.push(object.metadata.name ?? '');
          wake();
        }
      } catch {
        // refused or cut: the next one starts where this one ended
      }
    }
  })();
  t.after(async () => {
    stop.abort();
    await watching;
    await client.close();
    await server.stop();
  });
  const names: string[] = [];
  const add = (name: string) => {
    names.push(name);
    server.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  };
  for (let n = 0; n < 5; n++) {
    add(`up-${n}`);
    await server.hooks.pause();
    add(`down-${n}`);
    await server.hooks.resume();
  }
  while (seen.length < names.length) await new Promise<void>((resolve) => (wake = resolve));
  assert.deepEqual(seen, names);
});
