import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApiServer } from '../../../../apiserver/server.ts';
import type { ApiServer } from '../../../../apiserver/server.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { kubeconfigSource } from '../../../../kube/client/load-access.ts';
import { watchObject } from '../../../../kube/client/watch-object.ts';
import type { TestContext } from 'node:test';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';

const options = { clock: realClock, random: seededRandom(1), log: silentLog };

async function embedded(t: TestContext): Promise<{ server: ApiServer; client: Client }> {
  const server = await startApiServer({ ...options, tokens: [{ token: 'weak', user: 'system:node:n', groups: ['system:nodes'] }] });
  const dir = await mkdtemp(join(tmpdir(), 'dkc-embedded-'));
  await writeFile(join(dir, 'config'), server.kubeconfig());
  const client = createClient(kubeconfigSource(join(dir, 'config')));
  t.after(async () => {
    await client.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  return { server, client };
}

const map = (value: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'default', ...more },
  data: { value },
});

/** What the watch sees, to be waited for. */
class Sightings {
  readonly seen: string[] = [];
  #wake = () => {};
  add(object: KubeObject | undefined): void {
    this.seen.push(object === undefined ? 'gone' : String((object['data'] as Record<string, string>)['value']));
    this.#wake();
  }
  async until(last: string): Promise<void> {
    while (this.seen.at(-1) !== last) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

test('an object watch over the wire follows its object through cuts, restarts and compaction', { timeout: 120_000 }, async (t) => {
  const { server, client } = await embedded(t);
  const stop = new AbortController();
  const sightings = new Sightings();
  const done = watchObject(
    { ...options, client },
    configMaps,
    { name: 'cm', namespace: 'default' },
    { onSeen: ({ object }) => sightings.add(object) },
    stop.signal,
  );
  await sightings.until('gone');
  await client.create(configMaps, map('one'));
  await sightings.until('one');
  await client.patch(configMaps, { name: 'cm', namespace: 'default' }, { data: { value: 'two' } }, { type: 'merge' });
  await sightings.until('two');
  server.hooks.dropConnections();
  // The cut may arrive after the patch left: then nobody knows whether it was done, and it is ours to do it again.
  const patch = () => client.patch(configMaps, { name: 'cm', namespace: 'default' }, { data: { value: 'three' } }, { type: 'strategic' });
  await patch().catch(patch);
  await sightings.until('three');
  await server.hooks.pause();
  await server.hooks.resume();
  const remove = () => client.delete(configMaps, { name: 'cm', namespace: 'default' });
  await remove().catch(remove);
  await client.create(configMaps, map('four'));
  server.hooks.compact(); // nobody can tell any more that it was gone in between
  await sightings.until('four');
  stop.abort();
  await done;
  assert.deepEqual(
    sightings.seen.filter((seen) => seen !== 'gone'),
    ['one', 'two', 'three', 'four'],
  );
});

test('a subresource may have a kind of its own', async (t) => {
  const { client } = await embedded(t);
  const sets = { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', namespaced: true };
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const metadata = { name: 'web', namespace: 'default' };
  await client.create(sets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { serviceName: 'web', selector: { matchLabels: labels }, template },
  });
  const scale = await client.patch<KubeObject>(sets, metadata, { spec: { replicas: 3 } }, { type: 'merge', subresource: 'scale' });
  assert.equal(scale.kind, 'Scale');
  const again = await client.replace<KubeObject>(sets, { ...scale, spec: { replicas: 2 } }, { subresource: 'scale' });
  assert.equal(again.kind, 'Scale');
  const { spec } = await client.get<KubeObject & { spec: { replicas: number } }>(sets, metadata);
  assert.equal(spec.replicas, 2);
});
