import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allows, type PathWish, type ResourceWish } from '../../../../apiserver/auth/authorize.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import { started } from '../started.ts';

/** `get pods`, `update apps/deployments/scale x`: verb, group/resource/subresource, name. */
function wish(text: string): ResourceWish | PathWish {
  const [verb = '', what = '', name = ''] = text.split(' ');
  if (what.startsWith('/')) return { verb, path: what };
  const [first = '', ...rest] = what.split(':');
  const [group, resource] = rest.length === 0 ? ['', first] : [first, rest.join(':')];
  return { verb, group, resource, namespace: 'ns', name };
}

const read = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

const cases = [
  { why: 'what is named', rule: read, wish: 'get pods', allowed: true },
  { why: 'not another verb', rule: read, wish: 'delete pods', allowed: false },
  { why: 'not another resource', rule: read, wish: 'get secrets', allowed: false },
  { why: 'not another group', rule: read, wish: 'get apps:pods', allowed: false },
  { why: 'not a subresource', rule: read, wish: 'get pods/status', allowed: false },
  { why: 'a subresource by its name', rule: { ...read, resources: ['pods/status'] }, wish: 'get pods/status', allowed: true },
  { why: 'not the object by its subresource', rule: { ...read, resources: ['pods/status'] }, wish: 'get pods', allowed: false },
  {
    why: 'one subresource of everything',
    rule: { ...read, resources: ['*/scale'] },
    wish: 'get replicationcontrollers/scale',
    allowed: true,
  },
  { why: 'no other subresource of everything', rule: { ...read, resources: ['*/scale'] }, wish: 'get pods/status', allowed: false },
  { why: 'a resource that only ends alike', rule: { ...read, resources: ['*/scale'] }, wish: 'get downscale', allowed: false },
  { why: 'every resource', rule: { ...read, resources: ['*'] }, wish: 'get pods/status', allowed: true },
  { why: 'every group', rule: { ...read, apiGroups: ['*'], resources: ['daemonsets'] }, wish: 'list apps:daemonsets', allowed: true },
  { why: 'every verb', rule: { ...read, verbs: ['*'] }, wish: 'deletecollection pods', allowed: true },
  { why: 'one object by its name', rule: { ...read, resourceNames: ['a'] }, wish: 'get pods a', allowed: true },
  { why: 'no other object', rule: { ...read, resourceNames: ['a'] }, wish: 'get pods b', allowed: false },
  { why: 'no list where names are given', rule: { ...read, resourceNames: ['a'] }, wish: 'list pods', allowed: false },
  { why: 'a path', rule: { nonResourceURLs: ['/metrics'], verbs: ['get'] }, wish: 'get /metrics', allowed: true },
  { why: 'what is below a path', rule: { nonResourceURLs: ['/logs/*'], verbs: ['get'] }, wish: 'get /logs/a', allowed: true },
  { why: 'no other path', rule: { nonResourceURLs: ['/metrics'], verbs: ['get'] }, wish: 'get /metricsx', allowed: false },
  { why: 'no path by a rule about resources', rule: { ...read, resources: ['*'], apiGroups: ['*'] }, wish: 'get /metrics', allowed: false },
  { why: 'nothing by an empty rule', rule: {}, wish: 'get pods', allowed: false },
];

for (const c of cases) test(`a rule allows ${c.why}: ${c.wish}`, () => assert.equal(allows([c.rule], wish(c.wish)), c.allowed));

const role = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });

test('a token gets what roles give it, where they are bound, and nothing else', async (t) => {
  const { server } = await started({
    tls: false,
    tokens: [
      { token: 'u', user: 'alice', groups: ['devs'] },
      { token: 's', user: 'system:serviceaccount:default:robot', groups: [] },
    ],
  });
  t.after(() => server.stop());
  const api = new ApiHttp({ url: server.url, ca: '', token: server.token });
  const [alice, robot] = [api.as('u'), api.as('s')];
  const pods = '/api/v1/namespaces/default/pods';
  const refused = await alice.get(pods);
  assert.equal(refused.code, 403);
  assert.equal(
    refused.json['message'],
    'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
  );
  server.add({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [read] });
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', roleRef: role('Role', 'r') };
  server.add({ ...binding, metadata: { name: 'devs' }, subjects: [{ kind: 'Group', name: 'devs' }] });
  server.add({ ...binding, metadata: { name: 'robot' }, subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }] });
  assert.equal((await alice.get(pods)).code, 200);
  assert.equal((await robot.get(pods)).code, 200);
  assert.equal((await alice.get('/api/v1/namespaces/kube-system/pods')).code, 403);
  assert.equal((await alice.get('/api/v1/pods')).code, 403);
  assert.equal((await alice.delete(`${pods}/x`)).code, 403);
  server.add({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'all-pods' },
    rules: [{ ...read, resourceNames: ['one'] }],
  });
  server.add({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'accounts' },
    roleRef: role('ClusterRole', 'all-pods'),
    subjects: [{ kind: 'Group', name: 'system:serviceaccounts:default' }],
  });
  assert.equal((await robot.get('/api/v1/pods')).code, 403);
  // A ClusterRole that is bound in a namespace holds there alone.
  server.add({
    ...binding,
    metadata: { name: 'everything' },
    roleRef: role('ClusterRole', 'cluster-admin'),
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  assert.equal((await alice.get('/api/v1/namespaces/default/services')).code, 200);
  assert.equal((await alice.get('/api/v1/namespaces/kube-system/services')).code, 403);
  assert.equal((await alice.get('/api/v1/nodes')).code, 403);
  assert.equal((await robot.get('/api/v1/pods?fieldSelector=metadata.name%3Done')).code, 200);
  assert.equal((await alice.get('/api')).code, 200);
  assert.equal((await alice.get('/metrics')).code, 403);
  const ask = async (who: ApiHttp, spec: unknown) =>
    (await who.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec })).json['status']?.['allowed'];
  assert.equal(await ask(alice, { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'default' } }), true);
  assert.equal(await ask(alice, { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'kube-system' } }), false);
  assert.equal(await ask(alice, { nonResourceAttributes: { verb: 'get', path: '/version' } }), true);
  assert.equal(await ask(api, { resourceAttributes: { verb: 'delete', resource: 'nodes' } }), true);
  const { json } = await alice.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } });
  assert.ok(JSON.stringify(json['status']?.['resourceRules']).includes('"pods"'));
});
