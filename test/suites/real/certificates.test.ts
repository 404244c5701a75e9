import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, type KubeObject, type Resource } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { withRealParts } from './suite.ts';

await withRealParts('client certificates', ['etcd', 'kube-apiserver'], () => {
  test('a client certificate says who asks, and reads everything there is', async (t) => {
    const plane = await startControlPlane();
    t.after(() => plane.stop());
    const clientFor = async (user: string, groups: string[]): Promise<Client> => {
      const { cert, key } = await plane.clientCertificate(user, groups);
      const access = { origin: 'the test', server: plane.url, ca: { data: plane.ca } };
      const client = createClient({ ...access, clientCertificate: { data: cert }, clientKey: { data: key } });
      t.after(() => client.close());
      return client;
    };
    const nobody = await clientFor('some-user', []);
    await assert.rejects(nobody.list(configMaps), { code: 403, serverMessage: /^configmaps is forbidden: User "some-user" cannot list/ });

    const master = await clientFor('some-admin', ['system:masters']);
    const kinds = await listedKinds(master);
    const counts: Record<string, number> = {};
    for (const kind of kinds) {
      let count = 0;
      await master.listEach<KubeObject>(kind, {}, ({ metadata }) => {
        assert.notEqual(metadata.name, '');
        count += 1;
      });
      counts[kind.resource] = count;
    }
    assert.ok(kinds.length > 40, `${kinds.length}`);
    for (const kind of ['namespaces', 'clusterroles', 'apiservices', 'flowschemas', 'configmaps']) assert.ok((counts[kind] ?? 0) > 0, kind);
  });
});

/** Every kind that the server lists, in its preferred version. */
async function listedKinds(client: Client): Promise<Resource[]> {
  interface Groups {
    groups: { name: string; preferredVersion: { groupVersion: string; version: string } }[];
  }
  interface Resources {
    resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[];
  }
  const { groups } = (await client.raw('GET', '/apis')) as Groups;
  const all = [{ name: '', path: '/api/v1', version: 'v1' }].concat(
    groups.map(({ name, preferredVersion: { groupVersion, version } }) => ({ name, path: `/apis/${groupVersion}`, version })),
  );
  const found = all.map(async ({ name: group, path, version }) => {
    const { resources } = (await client.raw('GET', path)) as Resources;
    const listed = resources.filter(({ verbs }) => verbs.includes('list'));
    return listed.map(({ name, kind, namespaced }) => ({ group, version, resource: name, kind, namespaced }));
  });
  return (await Promise.all(found)).flat();
}
