import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ApiServer } from '../../../apiserver/server.ts';
import { text } from '../../support/api-http.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { started } from './started.ts';

const spec = { namespace: 'default', name: 'cm', kubeletConfigKey: 'kubelet' };
const source = (name: string) => ({ configSource: { configMap: { ...spec, name } } });
const config = { assigned: { configMap: { ...spec, uid: 'u', resourceVersion: '1' } } };

describe('with the gate DynamicKubeletConfig off', () => {
  let server: ApiServer;
  let api: ApiHttp;
  before(async () => ({ server, api } = await started({ tls: false, dynamicKubeletConfig: false })));
  after(() => server.stop());

  /** A node that has both fields from before the gate went off. */
  async function oldNode(name: string): Promise<string> {
    const { json } = await api.post('/api/v1/nodes', { metadata: { name } });
    server.hooks.storage.put('/nodes', name, {
      metadata: { name, uid: text(json['metadata']?.['uid']) },
      spec: source('old'),
      status: { config },
    });
    return `/api/v1/nodes/${name}`;
  }

  test('says that it is a later server', async () => {
    assert.equal((await api.get('/version')).json['minor'], '36');
  });

  test('a node that has them keeps them, changed and validated', async () => {
    const path = await oldNode('old');
    const moved = await api.patch(path, { spec: source('b') });
    assert.equal(moved.json['spec']?.['configSource']?.['configMap']?.['name'], 'b');
    assert.equal(moved.headers['warning'], '299 - "spec.configSource: the feature is removed"');
    assert.equal((await api.patch(path, { spec: source('B_d') })).code, 422);
    const reported = await api.patch(`${path}/status`, { status: { config: { error: 'e' } } });
    assert.equal(reported.json['status']?.['config']?.['error'], 'e');
    assert.equal((await api.patch(`${path}/status`, { status: { config: { assigned: {} } } })).code, 200);
    assert.equal((await api.patch(`${path}/status`, { status: { config: { active: {} } } })).code, 422);
  });

  test('clearing is one-way', async () => {
    const path = await oldNode('cleared');
    assert.equal((await api.patch(path, { spec: { configSource: null } })).json['spec']?.['configSource'], undefined);
    assert.equal((await api.patch(path, { spec: source('a') })).json['spec']?.['configSource'], undefined);
  });
});
