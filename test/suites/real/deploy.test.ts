import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { realClock } from '../../../base/clock.ts';
import { type NodeConfigRollout, rollouts } from '../../../controllers/rollout/types.ts';
import { overlays } from '../../../deploy/manifests.ts';
import { configMaps, type KubeObject, nodes } from '../../../kube/api/object.ts';
import { eventually } from '../../support/eventually.ts';
import { LightAgents } from '../../support/fleet/light-agents.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { root, startProcess } from './cluster/subject.ts';
import { withRealParts } from './suite.ts';

const release = await givenRelease();
const NODES = ['node-a', 'node-b', 'node-c'];
const PACE = { active: 200, trial: 500, condemned: 500 };

/** What the Prometheus operator defines, of which we have objects. */
const prometheusOperator = ['ServiceMonitor', 'PrometheusRule'].map((kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.monitoring.coreos.com` },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }], // prettier-ignore
  },
}));

interface Deployment {
  spec: { template: { metadata: object; spec: { containers: { args: string[] }[] } } };
}

const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

interface Ends {
  after(done: () => Promise<void>): void;
}

async function clusterOnly(t: Ends) {
  const plane = await startControlPlane({ release });
  t.after(() => plane.stop());
  const { kubectl: program } = await release.programs(['kubectl']);
  const kubectl = await Kubectl.start(program, plane.kubeconfig());
  t.after(() => kubectl.stop());
  return { plane, kubectl };
}

/** Applies a path of deploy/ to a server. The nodes have agents without a kubelet. */
async function clusterWith(path: string, t: Ends) {
  const { plane, kubectl } = await clusterOnly(t);
  const apply = () => kubectl.good(`apply --validate=strict -k ${join(root, path)}`);
  await apply();
  return { plane, kubectl, apply };
}

await withRealParts(
  `deploy/ on a real API server ${release.version}`,
  ['etcd', 'kube-apiserver', 'kubectl'],
  () => {
    test('kubectl apply -k deploy/ is all; the Deployment fits "restricted", gets ready with its own rights, and rolls out', async (t) => {
      const { plane, kubectl, apply } = await clusterWith('deploy', t);
      const again = (await apply()).trimEnd().split('\n');
      const changed = again.filter((line) => !line.endsWith(' unchanged'));
      // kubectl sends the selector of a budget each time, whether it differs or not.
      assert.deepEqual(changed.toSorted(), ['dkc-rollout-controller', 'dkc-scheduler'].map((name) => `poddisruptionbudget.policy/${name} configured`)); // prettier-ignore
      assert.equal(await kubectl.good('-n dkc-system get pdb dkc-rollout-controller -o jsonpath={.metadata.generation}'), '1');

      const { spec } = JSON.parse(await kubectl.good('-n dkc-system get deployment dkc-rollout-controller -o json')) as Deployment;
      await kubectl.good('label namespace dkc-system pod-security.kubernetes.io/enforce=restricted');
      const { template } = spec;
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'dkc-system' }, spec: template.spec };
      await kubectl.good('create --dry-run=server -f -', JSON.stringify(pod));

      const client = adminClient(plane);
      t.after(() => client.close());
      const agents = new LightAgents(client, realClock, PACE);
      t.after(() => agents.stop());
      void agents.run();
      for (const name of NODES) {
        await client.create<KubeObject>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
        const now = new Date().toISOString();
        const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: now, lastTransitionTime: now }]; // prettier-ignore
        const status = { nodeInfo: { kubeletVersion: `v${release.version}` }, conditions };
        await client.patch(nodes, { name }, { status }, { type: 'merge', subresource: 'status' });
        await agents.join(name);
      }
      const data = { kubelet: JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 120 }) };
      const named = { name: 'web', namespace: 'dkc-system' };
      await client.create<KubeObject>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: named, data }, named);

      // What the kubelet would start, with the token that it would mount; only ports and the way to the API server are this machine's.
      const token = (await kubectl.good('-n dkc-system create token dkc-rollout-controller')).trim();
      const [container] = template.spec.containers;
      const args = (container?.args ?? []).filter((flag) => !/^--(metrics|page)-bind-address/.test(flag));
      await using controller = await startProcess('dkc', { ca: plane.ca, kubeconfig: () => plane.kubeconfig(token) }, async (place) => ({
        program: process.execPath,
        args: [join(root, 'cli/main.ts'), ...args, `--kubeconfig=${place.kubeconfig}`, `--metrics-bind-address=127.0.0.1:${place.port}`, '--page-bind-address=127.0.0.1:0'], // prettier-ignore
        ready: { url: `http://127.0.0.1:${place.port}/readyz` },
      }));
      assert.match(await controller.answer('/healthz'), /ok/);
      const rollout = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: 'web' } };
      await client.create<NodeConfigRollout>(rollouts, {
        ...rollout,
        spec: { nodeSelector: {}, configMap: { ...named, kubeletConfigKey: 'kubelet' }, drain: 'Always', steps: [{ nodes: '100%' }] },
      });
      await eventually('the rollout is complete', async () => {
        const { status } = await client.get<NodeConfigRollout>(rollouts, { name: 'web' });
        return status?.phase === 'Complete' || undefined;
      }, 120_000); // prettier-ignore
      assert.doesNotMatch(await controller.log(), /missing rights|forbidden/);
    });

    test('every overlay is taken as it is: pods fit "restricted", but for those on the network of their node', async (t) => {
      const { kubectl } = await clusterOnly(t);
      await kubectl.good('apply -f -', list(prometheusOperator));
      await kubectl.good(
        'wait --for=condition=Established crd servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com',
      );
      // The folder of one's own in docs/deploy.md.
      const [, own = ''] = /^```yaml\n(.*?kind: Kustomization\n.*?)^```/ms.exec(readFileSync(join(root, 'docs/deploy.md'), 'utf8')) ?? [];
      cpSync(join(root, 'deploy'), join(kubectl.home, 'deploy'), { recursive: true });
      mkdirSync(join(kubectl.home, 'own'));
      writeFileSync(join(kubectl.home, 'own/kustomization.yaml'), own);
      const theirs = await kubectl.good(`kustomize ${join(kubectl.home, 'own')}`);
      assert.deepEqual([...theirs.matchAll(/^ +(?:- )?image: (.*)$/gm)].map(([, image]) => image), ['registry.example/dkc:0.1.0', 'registry.example/dkc:0.1.0']); // prettier-ignore
      for (const kind of ['Deployment\nmetadata:\n.*name: dkc-scheduler', 'PrometheusRule'])
        assert.match(theirs, new RegExp(`^kind: ${kind}`, 'ms'));
      // The base is in each of them.
      const texts = await Promise.all(overlays.map((name) => kubectl.good(`kustomize ${join(root, 'deploy/overlays', name)}`)));
      const items = new Map(texts.flatMap((text) => parseAllDocuments(text).map((document) => {
        const object = document.toJS() as KubeObject & { spec?: { template?: { spec: object } } };
        return [`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`, object] as const;
      }))); // prettier-ignore
      await kubectl.good('apply --validate=strict -f -', list([...items.values()]));
      const templates = [...items.values()].filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
      const pods = templates.map(({ metadata: { name, namespace }, spec }) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: spec?.template?.spec })); // prettier-ignore
      await kubectl.good('create --dry-run=server -f -', list(pods));
      await kubectl.good('label namespace dkc-system pod-security.kubernetes.io/enforce=restricted');
      const { stderr } = await kubectl.run(['create', '--dry-run=server', '-f', '-'], list(pods));
      const rejected = stderr.trimEnd().split('\n');
      assert.match(rejected.join(' | '), /^[^|]*"dkc-controllers" is forbidden: violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\)[^|]*$/); // prettier-ignore
      assert.deepEqual(templates.map(({ metadata }) => metadata.name ?? '').toSorted(), ['dkc-controllers', 'dkc-node-installer', 'dkc-rollout-controller', 'dkc-scheduler']); // prettier-ignore
    });
  },
  release,
);
