import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import type { ApiServerOptions } from '../../../apiserver/server.ts';
import { text } from '../../support/api-http.ts';
import { apiServer } from '../../support/embedded-api.ts';
import { started } from './started.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

async function running(t: TestContext, options: Partial<ApiServerOptions> = {}) {
  const { server, api } = await started(options);
  t.after(() => server.stop());
  return { server, api };
}

test('speaks TLS with a certificate of its own that names loopback, and hands out a kubeconfig', async (t) => {
  const { server, api } = await running(t);
  const certificate = new X509Certificate(server.caPem);
  assert.ok(certificate.ca && certificate.verify(certificate.publicKey));
  assert.deepEqual([certificate.checkIP('127.0.0.1'), certificate.checkHost('localhost')], ['127.0.0.1', 'localhost']);
  assert.equal((await api.get('/healthz')).text, 'ok');
  const { clusters, users } = parse(server.kubeconfig());
  const { server: url, 'certificate-authority-data': authority } = clusters[0].cluster;
  assert.deepEqual([url, Buffer.from(authority, 'base64').toString(), users[0].user.token], [server.url, server.caPem, server.token]);
  assert.equal(parse(server.kubeconfig('token-a')).users[0].name, 'system:node:contract-a');
});

test('listens on loopback alone, and says that a port is taken', async (t) => {
  for (const listen of ['0.0.0.0:0', '[::]:0', 'example.com:0', '127.0.0.1', '127.0.0.1:70000'])
    await assert.rejects(apiServer({ listen }), /^ActionError: Cannot listen on /, listen);
  const { server } = await running(t, { tls: false });
  await assert.rejects(apiServer({ listen: server.url.slice('http://'.length) }), /is the port taken/);
});

test('goes away and comes back at the same address, with what it had; stop ends watches and is harmless twice', async (t) => {
  const { server, api } = await running(t);
  await api.post(configMaps, { metadata: { name: 'kept' } });
  const watch = await api.watch(`${configMaps}?watch=1`);
  assert.equal((await watch.next())?.type, 'ADDED');
  await server.hooks.pause();
  await assert.rejects(watch.next());
  await assert.rejects(api.get('/healthz'), { code: 'ECONNREFUSED' });
  await server.hooks.resume();
  assert.equal((await api.get(`${configMaps}/kept`)).code, 200);
  const last = await api.watch(`${configMaps}?watch=1`);
  await last.next();
  await Promise.all([server.stop(), assert.rejects(last.next())]);
  await server.stop();
});

test('sendInitialEvents ends the present state with a marked bookmark, from 1.27 on', async (t) => {
  const { api } = await running(t, { tls: false, version: 'v1.34.0', dynamicKubeletConfig: false });
  await api.post(configMaps, { metadata: { name: 'first' } });
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const watch = await api.watch(`${configMaps}?${query}`);
  assert.equal((await watch.next())?.type, 'ADDED');
  const bookmark = await watch.next();
  assert.equal(bookmark?.type, 'BOOKMARK');
  assert.equal(bookmark.object['metadata']?.['annotations']?.['k8s.io/initial-events-end'], 'true');
  watch.close();
  assert.equal((await api.get(`${configMaps}?watch=1&sendInitialEvents=true`)).code, 422);
  const older = await running(t, { tls: false, version: 'v1.20.2' });
  const refused = await older.api.get(`${configMaps}?${query}`);
  assert.equal(refused.code, 422);
  assert.match(text(refused.json['message']), /resourceVersionMatch is forbidden for watch/);
});

const spec = { namespace: 'default', name: 'cm', kubeletConfigKey: 'kubelet' };
const source = (name: string) => ({ configSource: { configMap: { ...spec, name } } });

test('with the gate DynamicKubeletConfig off a node keeps the fields that it has, validated, and clearing is one-way', async (t) => {
  const { server, api } = await running(t, { tls: false, dynamicKubeletConfig: false });
  assert.equal((await api.get('/version')).json['minor'], '36');
  const { json } = await api.post('/api/v1/nodes', { metadata: { name: 'old' } });
  const config = { assigned: { configMap: { ...spec, uid: 'u', resourceVersion: '1' } } };
  server.hooks.storage.put('/nodes', 'old', { metadata: { name: 'old', uid: text(json['metadata']?.['uid']) }, spec: source('old'), status: { config } }); // prettier-ignore
  const path = '/api/v1/nodes/old';
  const moved = await api.patch(path, { spec: source('b') });
  assert.equal(moved.json['spec']?.['configSource']?.['configMap']?.['name'], 'b');
  assert.equal(moved.headers['warning'], '299 - "spec.configSource: the feature is removed"');
  assert.equal((await api.patch(path, { spec: source('B_d') })).code, 422);
  const reported = await api.patch(`${path}/status`, { status: { config: { error: 'e' } } });
  assert.equal(reported.json['status']?.['config']?.['error'], 'e');
  assert.equal((await api.patch(`${path}/status`, { status: { config: { active: {} } } })).code, 422);
  await api.patch(path, { spec: { configSource: null } });
  assert.equal((await api.patch(path, { spec: source('a') })).json['spec']?.['configSource'], undefined);
});
