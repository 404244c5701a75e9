import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

test('a subresource may have a kind of its own', async () => {
  const api = localApi(realClock);
  const client = localClient(api);
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
  await client.close();
  api.stop();
});
