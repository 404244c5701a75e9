import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { describeWithKubectl, Kubectl } from '../../support/kubectl.ts';
import type { ApiServer } from '../../../apiserver/server.ts';
import { started } from './started.ts';

const configMap = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, namespace: default}\ndata: ${data}\n`;
const node = `apiVersion: v1
kind: Node
metadata: {name: node-0, labels: {node-role.kubernetes.io/worker: ""}}
spec: {taints: [{key: a, effect: NoSchedule}]}
`;

describeWithKubectl('kubectl drives the embedded server', (program) => {
  let server: ApiServer;
  let kubectl: Kubectl;
  before(async () => {
    ({ server } = await started());
    kubectl = await Kubectl.start(program, server.kubeconfig());
  });
  after(async () => {
    await kubectl.stop();
    await server.stop();
  });
  const good: Kubectl['good'] = (...args) => kubectl.good(...args);
  const run: Kubectl['run'] = (...args) => kubectl.run(...args);

  test('creates and applies, then applies a change', async () => {
    assert.equal(await good('create -f -', node), 'node/node-0 created\n');
    assert.equal(await good('apply -f -', configMap('{a: one, b: two}')), 'configmap/cm created\n');
    assert.equal(await good('apply -f -', configMap('{a: one, b: two}')), 'configmap/cm unchanged\n');
    assert.equal(await good('apply -f -', configMap('{a: three}')), 'configmap/cm configured\n');
    assert.equal(await good('get configmap cm -o jsonpath={.data}'), '{"a":"three"}');
  });

  test('refuses unknown fields by the OpenAPI document', async () => {
    const { code, stderr } = await run(['apply', '-f', '-'], configMap('{a: x}').replace('data:', 'datum:'));
    assert.equal(code, 1);
    assert.match(stderr, /unknown field/);
  });

  test('applies on the server side, and meets another manager', async () => {
    const object = configMap('{a: x}').replace('name: cm', 'name: ssa');
    assert.equal(await good('apply --server-side -f -', object), 'configmap/ssa serverside-applied\n');
    const { code, stderr } = await run(['apply', '--server-side', '--field-manager=other', '-f', '-'], object.replace('a: x', 'a: z'));
    assert.equal(code, 1);
    assert.match(stderr, /conflict with "kubectl": \.data\.a/);
  });

  test('edits', async () => {
    const editor = join(kubectl.home, 'editor');
    await writeFile(editor, '#!/bin/sh\nsed -i s/three/four/ "$1"\n', { mode: 0o755 });
    assert.match(await good('edit configmap cm', '', { EDITOR: editor, KUBE_EDITOR: editor }), /^configmap\/cm edited/);
    assert.equal(await good('get cm cm -o jsonpath={.data.a}'), 'four');
  });

  test('patches a node in all three ways, and reads the refusal of a bad one', async () => {
    const source = { configMap: { namespace: 'default', name: 'cm', kubeletConfigKey: 'a' } };
    const strategic = await run(['patch', 'node', 'node-0', '-p', JSON.stringify({ spec: { configSource: source } })]);
    assert.equal(strategic.stdout, 'node/node-0 patched\n', strategic.stderr);
    const bad = await run(['patch', 'node', 'node-0', '--type=merge', '-p', '{"spec":{"configSource":{"configMap":{"uid":"u"}}}}']);
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /The Node "node-0" is invalid: spec\.configSource\.configMap\.uid: Forbidden: uid must not be set in spec/);
    const json = await run(['patch', 'node', 'node-0', '--type=json', '-p', '[{"op":"remove","path":"/spec/configSource"}]']);
    assert.equal(json.stdout, 'node/node-0 patched\n', json.stderr);
  });

  test('labels, annotates and cordons', async () => {
    await good('label node node-0 pool=web');
    await good('annotate configmap cm dkc.dev/allow=maxPods');
    await good('cordon node-0');
    assert.match(await good('get nodes -l pool=web'), /node-0 +Unknown,SchedulingDisabled +worker +\d+s/);
  });

  test('shows tables, plain and wide', async () => {
    assert.match(await good('get nodes'), /^NAME +STATUS +ROLES +AGE +VERSION *\n/);
    assert.match(await good('get nodes -o wide'), /INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME/);
    assert.match(await good('get cm -A'), /^NAMESPACE +NAME +DATA +AGE *\ndefault +cm +1 +\d+s\n/);
    assert.match(await good('get ns'), /dkc-system +Active/);
  });

  test('describes and explains', async () => {
    assert.match(await good('describe node node-0'), /Taints: +a:NoSchedule|node\.kubernetes\.io\/unschedulable/);
    assert.match(await good('describe configmap cm'), /a:\n----\nfour/);
    assert.match(await good('explain node.spec.configSource.configMap'), /kubeletConfigKey\s+<string> -required-/);
  });

  test('watches', async () => {
    const child = kubectl.spawn(['get', 'cm', '-w', '--no-headers']);
    let seen = '';
    child.stdout.setEncoding('utf8');
    const until = async (wanted: RegExp): Promise<void> => {
      while (!wanted.test(seen)) {
        const [part] = await once(child.stdout, 'data');
        seen += String(part);
      }
    };
    await until(/^cm +1/m);
    const { namespace } = { namespace: 'default' };
    server.hooks.storage.put('/configmaps', `${namespace}/later`, { metadata: { name: 'later', namespace }, data: { a: '1', b: '2' } });
    await until(/^later +2/m);
    child.kill();
    await once(child, 'close');
  });

  test('deletes, and waits until it is gone', async () => {
    assert.equal(await good('delete configmap cm'), 'configmap "cm" deleted\n');
    await good('create namespace going');
    await good('delete namespace going');
    assert.match((await run(['get', 'namespace', 'going'])).stderr, /namespaces "going" not found/);
    assert.equal(await good('delete node node-0'), 'node "node-0" deleted\n');
  });

  test('asks for a dry run', async () => {
    assert.match(await good('apply --dry-run=server -f -', configMap('{a: x}')), /configmap\/cm created \((server )?dry run\)/);
    assert.match((await run(['get', 'cm', 'cm'])).stderr, /NotFound/);
  });
});
