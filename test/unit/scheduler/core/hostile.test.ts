import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { MAX_TERMS } from '../../../../scheduler/pod/pod-limits.ts';
import { node, pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';
import type { Parts } from '../simulated/world.ts';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const required = <T>(terms: T) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const labels = Object.fromEntries(list(10_000, (at) => [`example.com/l-${at}`, 'x']));
const term = (at: number) => ({
  topologyKey: `example.com/l-${at}`,
  namespaceSelector: {},
  labelSelector: { matchLabels: { app: `x${at}` } },
});
const wishes = list(MAX_TERMS, (at) => ({ weight: 1, podAffinityTerm: term(at) }));
const preferring = pod('odd').affinity({ podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wishes } });
const apart = pod('odd').affinity({ podAntiAffinity: required(list(6_000, term)) });
const claims = list(10_000, (at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `v${at}` } }));
const images = list(10_000, (at) => ({ names: [`image:${at}`], sizeBytes: 1 }));
const own = { schedulerName: 'default-scheduler', containers: [{ name: 'c', image: 'i' }] };

/** An object of a kind, in a namespace or not. */
const odd = (kind: string, more: object, namespace?: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  ...more,
  metadata: { name: 'odd', uid: 'odd', ...(namespace !== undefined && { namespace }), ...(more as Partial<KubeObject>).metadata },
});
const POD = '/pods';
const NODE = '/nodes';

/** What a user of one namespace may make, and what a node may say of itself; and what no typed server sends. */
const rows: [what: string, kind: string, object: KubeObject][] = [
  ['a pod with as many terms as may be', POD, preferring.build()],
  ['a pod on a node with 6,000 terms of anti-affinity', POD, apart.on('n1').build()],
  ['a pod with 10,000 claims', POD, pod('odd').spec({ volumes: claims }).build()],
  ['a node with 10,000 labels', NODE, node('odd').cordoned().labels(labels).build()],
  ['a node with 10,000 images', NODE, { ...node('odd').cordoned().build(), status: { allocatable: { pods: '5' }, images } }],
  ['a pod with a term that is null', POD, odd('Pod', { spec: { ...own, affinity: { podAffinity: required([null]) } } }, 'default')],
  ['a pod with conditions that are null', POD, odd('Pod', { spec: { ...own, nodeSelector: { no: 'node' } }, status: { conditions: [null] } }, 'default')],
  ['a pod on a node with a term that is null', POD, odd('Pod', { spec: { ...own, nodeName: 'n1', affinity: { podAntiAffinity: required([null]) } } }, 'default')],
  ['a node with taints that are null', NODE, odd('Node', { spec: { taints: [null] } })],
  ['a budget with an odd selector', 'policy/poddisruptionbudgets', odd('PodDisruptionBudget', { spec: { selector: { matchExpressions: [null] } } }, 'default')],
  ['a storage class with odd topologies', 'storage.k8s.io/storageclasses', odd('StorageClass', { allowedTopologies: [null] })],
  ['a StatefulSet without anything', 'apps/statefulsets', odd('StatefulSet', { spec: { selector: 3, template: null } }, 'default')],
  ['a namespace with labels that are null', '/namespaces', odd('Namespace', { metadata: { name: 'odd', labels: null } })],
]; // prettier-ignore

/** What is held of pods and nodes, in entries. */
function entries({ cluster: view, queue, nominator }: Parts): object {
  const { carried, groups, topologies, taintSetCount, podCount } = view as Cluster;
  const held = { carried: carried.size, groups: groups.sizes.groups, columns: topologies.size, taints: taintSetCount, pods: podCount };
  return { ...held, sizes: queue.sizes, nominated: nominator.size };
}

for (const [what, kind, object] of rows)
  test(`beside ${what} ordinary pods are placed as without, when it comes and when it changes, and nothing of it stays`, async (t) => {
    const { world, stage, scheduler, nodeOf } = await scene(t, list(10, (at) => `n${at}`)); // prettier-ignore
    const web = (name: string, cpu = '10m') => pod(name).cpu(cpu).labels({ app: 'web' });
    stage.add(...list(10, (at) => web(`first-${at}`)));
    await stage.pass(5_000);
    const { parts = assert.fail('no scheduler') } = world;
    const before = entries(parts);
    const { storage } = world.api.hooks;
    const { metadata } = object;
    const key = metadata.namespace === undefined ? 'odd' : 'default/odd';
    const ordinary: string[] = [];
    for (const resourceVersion of ['1', '2']) {
      storage.put(kind, key, { ...object, metadata: { ...metadata, resourceVersion } });
      const names = list(10, (at) => `ordinary-${resourceVersion}-${at}`);
      stage.add(...names.map((name) => web(name, '100m')));
      ordinary.push(...names);
      await stage.pass(5_000);
    }
    assert.deepEqual(ordinary.filter((name) => nodeOf(name) === ''), [], scheduler.failures().join('\n')); // prettier-ignore
    storage.remove(kind, key);
    for (const name of ordinary) storage.remove(POD, `default/${name}`);
    await stage.pass(5_000);
    stage.add(web('last'));
    await stage.pass(5_000);
    assert.notEqual(nodeOf('last'), '');
    storage.remove(POD, 'default/last');
    await stage.pass(5_000);
    assert.deepEqual(entries(parts), before);
    assert.equal(scheduler.ready, true);
    assert.ok(scheduler.failures().length < 20, `${scheduler.failures().length} lines in the log`);
  });
