import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { allows, type PathWish, type ResourceWish } from '../../../apiserver/auth/authorize.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { table } from '../../support/table.ts';
import { started } from './started.ts';

/** `get pods`, `list apps:daemonsets`, `get pods a`: verb, group:resource/subresource, name. */
function wish(text: string): ResourceWish | PathWish {
  const [verb = '', what = '', name = ''] = text.split(' ');
  if (what.startsWith('/')) return { verb, path: what };
  const [group, resource] = what.includes(':') ? what.split(':') : ['', what];
  return { verb, group: group ?? '', resource: resource ?? '', namespace: 'ns', name };
}

const read = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

// `rule` is what it has other than getting and listing pods.
const cases = table('rule | allowed | not')(`
  {}                            | get pods                         | delete pods, get apps:pods, get pods/status, get /metrics
  {resources: ['*/scale', '*']} | get pods/scale, get pods/status  | get /metrics
  {resourceNames: [a]}          | get pods a                       | get pods b, list pods
  {resources: [], nonResourceURLs: [/metrics, '/logs/*']} | get /metrics, get /logs/a | get /metricsx
`);
test('a rule allows what it names and nothing else', () => {
  for (const { rule, allowed, not } of cases) {
    const may = (one: string) => allows([{ ...read, ...(parse(rule) as object) }], wish(one));
    for (const one of allowed.split(', ')) assert.equal(may(one), true, `${rule} ${one}`);
    for (const one of not.split(', ')) assert.equal(may(one), false, `${rule} ${one}`);
  }
});

test('a token gets what roles give it, where they are bound, and nothing else', async (t) => {
  const alices = { token: 'u', user: 'alice', groups: ['devs'] };
  const { server, api } = await started({ tls: false, tokens: [alices, { token: 's', user: 'system:serviceaccount:default:robot', groups: [] }] }); // prettier-ignore
  t.after(() => server.stop());
  const [alice, robot] = [api.as('u'), api.as('s')];
  const pods = '/api/v1/namespaces/default/pods';
  const refused = await alice.get(pods);
  const says = 'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"';
  assert.deepEqual([refused.code, refused.json['message']], [403, says]);
  const add = (kind: string, name: string, more: object) => server.add({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name }, ...more }); // prettier-ignore
  const bind = (name: string, role: string, subject: object) => {
    const [kind = '', of = ''] = role.split(' ');
    add(name.startsWith('all') ? 'ClusterRoleBinding' : 'RoleBinding', name, { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: of }, subjects: [subject] }); // prettier-ignore
  };
  add('Role', 'r', { rules: [read] });
  add('ClusterRole', 'one-pod', { rules: [{ ...read, resourceNames: ['one'] }] });
  bind('devs', 'Role r', { kind: 'Group', name: 'devs' });
  bind('robot', 'Role r', { kind: 'ServiceAccount', name: 'robot', namespace: 'default' });
  bind('all-accounts', 'ClusterRole one-pod', { kind: 'Group', name: 'system:serviceaccounts:default' });
  // A ClusterRole that is bound in a namespace holds there alone.
  bind('everything', 'ClusterRole cluster-admin', { kind: 'User', name: 'alice' });
  const codes = async (who: ApiHttp, ...paths: string[]) => Promise.all(paths.map(async (path) => (await who.get(path)).code));
  const elsewhere = '/api/v1/namespaces/kube-system';
  assert.deepEqual(await codes(alice, pods, '/api/v1/namespaces/default/services', '/api'), [200, 200, 200]);
  assert.deepEqual(await codes(alice, `${elsewhere}/pods`, `${elsewhere}/services`, '/api/v1/pods', '/api/v1/nodes', '/metrics'), [403, 403, 403, 403, 403]); // prettier-ignore
  assert.deepEqual(await codes(robot, pods, '/api/v1/pods?fieldSelector=metadata.name%3Done', '/api/v1/pods'), [200, 200, 403]);
  const reviews = '/apis/authorization.k8s.io/v1';
  const ask = async (who: ApiHttp, spec: object) => (await who.post(`${reviews}/selfsubjectaccessreviews`, { spec })).json['status']?.['allowed']; // prettier-ignore
  assert.equal(await ask(alice, { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'default' } }), true);
  assert.equal(await ask(alice, { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'kube-system' } }), false);
  assert.equal(await ask(alice, { nonResourceAttributes: { verb: 'get', path: '/version' } }), true);
  assert.equal(await ask(api, { resourceAttributes: { verb: 'delete', resource: 'nodes' } }), true);
  const { json } = await alice.post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } });
  assert.ok(JSON.stringify(json['status']?.['resourceRules']).includes('"pods"'));
});
