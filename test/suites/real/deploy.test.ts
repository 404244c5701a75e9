import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { overlays } from '../../../deploy/manifests.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { root } from './cluster/subject.ts';
import { ofRelease } from './suite.ts';

const release = await givenRelease();
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

const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

await ofRelease(release, `deploy/ on a real API server ${release.version}`, ['etcd', 'kube-apiserver', 'kubectl'], () => {
  test('every overlay is taken as it is, and a second time changes nothing; pods fit "restricted", but for those on the network of their node', async () => {
    await using ends = new AsyncDisposableStack();
    const plane = await startControlPlane({ release });
    ends.defer(() => plane.stop());
    const { kubectl: program } = await release.programs(['kubectl']);
    const kubectl = await Kubectl.start(program, plane.kubeconfig());
    ends.defer(() => kubectl.stop());
    await kubectl.good('apply -f -', list(prometheusOperator));
    await kubectl.good('wait --for=condition=Established crd servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com');
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
    const apply = () => kubectl.good('apply --validate=strict -f -', list([...items.values()]));
    await apply();
    const changed = (await apply())
      .trimEnd()
      .split('\n')
      .filter((line) => !line.endsWith(' unchanged'));
    // kubectl sends the selector of a budget each time, whether it differs or not.
    assert.deepEqual(changed.filter((line) => !/^poddisruptionbudget\.policy\/\S+ configured$/.test(line)), []); // prettier-ignore
    const templates = [...items.values()].filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
    const pods = templates.map(({ metadata: { name, namespace }, spec }) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: spec?.template?.spec })); // prettier-ignore
    await kubectl.good('create --dry-run=server -f -', list(pods));
    await kubectl.good('label namespace dkc-system pod-security.kubernetes.io/enforce=restricted');
    const { stderr } = await kubectl.run(['create', '--dry-run=server', '-f', '-'], list(pods));
    const rejected = stderr.trimEnd().split('\n');
    assert.match(rejected.join(' | '), /^[^|]*"dkc-controllers" is forbidden: violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\)[^|]*$/); // prettier-ignore
    assert.deepEqual(templates.map(({ metadata }) => metadata.name ?? '').toSorted(), ['dkc-controllers', 'dkc-node-installer', 'dkc-rollout-controller', 'dkc-scheduler']); // prettier-ignore
  });
});
