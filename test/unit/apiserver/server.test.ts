import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { parse } from 'yaml';
import { started } from './started.ts';
import { text } from '../../support/api-http.ts';
import { apiServer } from '../../support/embedded-api.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('speaks TLS with a certificate of its own that names loopback', async (t) => {
  const { server, api } = await started();
  t.after(() => server.stop());
  const certificate = new X509Certificate(server.caPem);
  assert.ok(certificate.verify(certificate.publicKey));
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(certificate.checkHost('localhost'), 'localhost');
  assert.ok(certificate.ca);
  assert.equal((await api.get('/healthz')).text, 'ok');
});

test('streams a watch over HTTP/2', async (t) => {
  const { server, api } = await started();
  const session = connect(server.url, { ca: server.caPem });
  t.after(async () => {
    session.destroy();
    await server.stop();
  });
  const version = text((await api.get(configMaps)).json['metadata']?.['resourceVersion']);
  const stream = session.request({
    ':path': `${configMaps}?watch=1&resourceVersion=${version}`,
    authorization: `Bearer ${server.token}`,
  });
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  assert.equal(status, 200);
  await api.post(configMaps, { metadata: { name: 'new' } });
  let received = '';
  for await (const part of stream.setEncoding('utf8')) {
    received += part;
    if (received.endsWith('\n')) break;
  }
  assert.equal(JSON.parse(received).object.metadata.name, 'new');
});

for (const listen of ['0.0.0.0:0', '[::]:0', '192.0.2.1:0', 'example.com:0', '127.0.0.1', '127.0.0.1:70000']) {
  test(`refuses to listen on ${listen}`, async () => {
    await assert.rejects(apiServer({ listen }), /^ActionError: Cannot listen on /);
  });
}

test('says that a port is taken', async (t) => {
  const { server } = await started({ tls: false });
  t.after(() => server.stop());
  const listen = server.url.slice('http://'.length);
  await assert.rejects(apiServer({ listen }), /is the port taken/);
});

test('its kubeconfig holds address, authority and token', async (t) => {
  const { server } = await started();
  t.after(() => server.stop());
  const config = parse(server.kubeconfig());
  assert.equal(config.clusters[0].cluster.server, server.url);
  assert.equal(Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString(), server.caPem);
  assert.equal(config.users[0].user.token, server.token);
  assert.equal(parse(server.kubeconfig('token-a')).users[0].name, 'system:node:contract-a');
});

test('goes away and comes back at the same address, with what it had', async (t) => {
  const { server, api } = await started();
  t.after(() => server.stop());
  await api.post(configMaps, { metadata: { name: 'kept' } });
  const watch = await api.watch(`${configMaps}?watch=1`);
  assert.equal((await watch.next())?.type, 'ADDED');
  await server.hooks.pause();
  await assert.rejects(watch.next());
  await assert.rejects(api.get('/healthz'), { code: 'ECONNREFUSED' });
  await server.hooks.resume();
  assert.equal((await api.get(`${configMaps}/kept`)).code, 200);
});

test('a watch that falls out of the window hears 410, one inside it misses nothing', async (t) => {
  const { server, api } = await started({ tls: false, watchWindow: 5 });
  t.after(() => server.stop());
  const { json } = await api.post(configMaps, { metadata: { name: 'busy' } });
  const version = Number(json['metadata']?.['resourceVersion']);
  for (let n = 1; n <= 11; n++) await api.patch(`${configMaps}/busy`, { data: { n: text(n) } });
  const late = await api.watch(`${configMaps}?watch=1&resourceVersion=${version}&timeoutSeconds=1`);
  assert.equal((await late.next())?.object['code'], 410);
  late.close();
  const inside = await api.watch(`${configMaps}?watch=1&resourceVersion=${version + 7}&timeoutSeconds=1`);
  assert.deepEqual(
    (await inside.rest()).map((event) => event.object['data']?.['n']),
    ['8', '9', '10', '11'],
  );
});

test('sendInitialEvents ends the present state with a marked bookmark, from 1.27 on', async (t) => {
  const { server, api } = await started({ tls: false, version: 'v1.34.0', dynamicKubeletConfig: false });
  t.after(() => server.stop());
  await api.post(configMaps, { metadata: { name: 'first' } });
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const watch = await api.watch(`${configMaps}?${query}`);
  assert.equal((await watch.next())?.type, 'ADDED');
  const bookmark = await watch.next();
  assert.equal(bookmark?.type, 'BOOKMARK');
  assert.equal(bookmark.object['metadata']?.['annotations']?.['k8s.io/initial-events-end'], 'true');
  watch.close();
  assert.equal((await api.get(`${configMaps}?watch=1&sendInitialEvents=true`)).code, 422);
  const older = await started({ tls: false, version: 'v1.20.2' });
  t.after(() => older.server.stop());
  const refused = await older.api.get(`${configMaps}?${query}`);
  assert.equal(refused.code, 422);
  assert.match(text(refused.json['message']), /resourceVersionMatch is forbidden for watch/);
});

test('bookmarks come at their interval and carry the versions of other kinds', async (t) => {
  const { server, api } = await started({ tls: false, bookmarkMs: 50 });
  t.after(() => server.stop());
  const watch = await api.watch(`${configMaps}?watch=1&allowWatchBookmarks=true`);
  const first = await watch.next();
  assert.equal(first?.type, 'BOOKMARK');
  const other = await api.post('/api/v1/nodes', { metadata: { name: 'other' } });
  const reached = Number(other.json['metadata']?.['resourceVersion']);
  let bookmark = await watch.next();
  while (Number(bookmark?.object['metadata']?.['resourceVersion']) < reached) bookmark = await watch.next();
  assert.equal(Number(bookmark?.object['metadata']?.['resourceVersion']), reached);
  watch.close();
});

test('stop ends watches and is harmless twice', async () => {
  const { server, api } = await started();
  const watch = await api.watch(`${configMaps}?watch=1`);
  await Promise.all([server.stop(), assert.rejects(watch.next())]);
  await server.stop();
});

test('takes manifests to start with', async (t) => {
  const { server, api } = await started({ tls: false });
  t.after(() => server.stop());
  server.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seeded' }, data: { a: 'b' } });
  server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'seeded' } });
  assert.equal((await api.get(`${configMaps}/seeded`)).code, 200);
  assert.equal((await api.get('/api/v1/nodes/seeded')).code, 200);
  assert.throws(
    () => server.add({ apiVersion: 'v2', kind: 'Node', metadata: { name: 'x' } }),
    /no matches for kind "Node" in version "v2"/,
  );
});

test('a namespace waits for what is held in it', async (t) => {
  const { server, api } = await started({ tls: false });
  t.after(() => server.stop());
  await api.post('/api/v1/namespaces', { metadata: { name: 'going' } });
  const inside = '/api/v1/namespaces/going/configmaps';
  await api.post(inside, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
  await api.post(inside, { metadata: { name: 'free' } });
  await api.delete('/api/v1/namespaces/going');
  assert.equal((await api.get('/api/v1/namespaces/going')).json['status']?.['phase'], 'Terminating');
  assert.equal((await api.get(`${inside}/free`)).code, 404);
  assert.equal((await api.post(inside, { metadata: { name: 'late' } })).code, 403);
  await api.patch(`${inside}/held`, { metadata: { finalizers: null } });
  assert.equal((await api.get(`${inside}/held`)).code, 404);
  assert.equal((await api.get('/api/v1/namespaces/going')).code, 404);
});

test('a list of thousands comes in pieces, and is the same list', async (t) => {
  const { server, api } = await started();
  t.after(() => server.stop());
  for (let n = 0; n < 2_100; n++) {
    const name = `cm-${String(n).padStart(4, '0')}`;
    server.hooks.storage.put('/configmaps', `default/${name}`, { metadata: { name, namespace: 'default' }, data: { n: String(n) } });
  }
  const whole = await api.get('/api/v1/configmaps');
  assert.equal(whole.headers['content-length'], undefined);
  assert.equal(whole.json['kind'], 'ConfigMapList');
  const items = Object.values(whole.json['items'] ?? {});
  assert.equal(items.length, 2_100);
  assert.equal(items.at(-1)?.['data']?.['n'], '2099');
  const page = await api.get('/api/v1/configmaps?limit=1000');
  assert.notEqual(page.headers['content-length'], undefined);
});
