import { daemonSetController } from '../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../controllers/statefulset/controller.ts';
import { daemonSets, type Kube, namespaces, persistentVolumeClaims, statefulSets, storageClasses } from '../../kube/api/object.ts';
import { defaultSchedulerConfig } from '../../scheduler/config/config.ts';
import { schedulerRunnable, servedKinds } from '../../scheduler/scheduler.ts';
import type { Context } from '../command.ts';
import { buildCluster, type DemoCluster } from './cluster/demo-cluster.ts';
import { eventText, type Narrator, typed } from './narrator.ts';
import type { PersistentVolumeClaim } from 'kubernetes-types/core/v1.js';
import { MISSING_TAG, PlayedStorage } from './cluster/pods-and-volumes.ts';
import { image, RolledSet } from './cluster/rollout-of-set.ts';
import { Eye } from './eye.ts';

const SHOP = 'shop';
const NODES = 6;
const DB = 4;
const MISSING = MISSING_TAG.slice(1);

/** Takes a DaemonSet and a StatefulSet through good and bad rollouts. @returns the final cluster @throws as soon as a step does not happen as described */
export async function controllersStory(context: Context, narrator: Narrator, undo: AsyncDisposableStack): Promise<DemoCluster> {
  const { signal } = context;
  const cluster = undo.use(await buildCluster(context, { count: NODES, cpus: 4 }));
  const { client } = cluster;
  await client.create(namespaces, { metadata: { name: SHOP } }, { signal });
  const served = await servedKinds(client, signal);
  await cluster.start('dkc-scheduler', (runtime) => schedulerRunnable(runtime, defaultSchedulerConfig, served));
  await cluster.start('dkc-controllers', (runtime) => [daemonSetController(runtime), statefulSetController(runtime)]);
  await daemonSetStory(context, cluster, narrator);
  await statefulSetStory(context, cluster, narrator);
  return cluster;
}

/** A DaemonSet that is rolled out in two ways, paused, stopped by a missing image, and undone. @throws as soon as a step does not happen as described */
async function daemonSetStory(context: Context, cluster: DemoCluster, narrator: Narrator): Promise<void> {
  const { signal } = context;
  const why = () => typed(context, narrator, ['why', 'daemonset', `${SHOP}/proxy`], `--kubeconfig=${cluster.kubeconfig}`);
  const set = new RolledSet(cluster, daemonSets, { namespace: SHOP, name: 'proxy', count: NODES }, signal);

  narrator.step(`A DaemonSet on ${NODES} nodes`);
  const labels = { app: 'proxy' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'proxy', image: image('proxy', '1') }] } };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
  const spec = { selector: { matchLabels: labels }, template, updateStrategy };
  await cluster.client.create(
    daemonSets,
    { metadata: { name: 'proxy', namespace: SHOP, annotations: { 'dkc.dev/progress-deadline': '10m' } }, spec },
    { signal },
  );
  await set.rolledOut('1');
  narrator.event(`the admin creates DaemonSet ${SHOP}/proxy with maxUnavailable 2: a ready pod on each node`);

  narrator.step('A rollout that is paused half-way');
  set.resetPeak();
  await set.setImage('2');
  await set.until('the first pods updated', (now) => set.ready(now, '2').length > 0);
  await set.annotate({ 'dkc.dev/paused': 'true' });
  await set.condition('Progressing', 'Unknown', 'RolloutPaused');
  await set.until('all pods ready', (now) => set.places(now) === NODES);
  narrator.event('the admin sets image proxy:2, and dkc.dev/paused when the first pods have it: no further pod is replaced');
  await why();
  await set.annotate({ 'dkc.dev/paused': null });
  await set.rolledOut('2');
  set.keptTo(2);
  narrator.event(`the admin removes the annotation: all pods have proxy:2; at most ${set.peak} nodes were without a ready pod at once`);

  narrator.step('A rollout without a gap');
  set.resetPeak();
  await set.setImage('3', { updateStrategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } });
  await set.rolledOut('3');
  set.keptTo(0);
  narrator.event('with maxSurge 2 the new pod comes beside the old one: no node was ever without a ready pod');

  narrator.step('An image that does not exist');
  set.resetPeak();
  await set.setImage(MISSING, {}, { 'dkc.dev/progress-deadline': '2s' });
  const stalled = await set.condition('Stalled', 'True', 'NotReady');
  set.keptTo(0);
  narrator.event('two new pods cannot pull it; the old ones stay, and after dkc.dev/progress-deadline the status says so:');
  narrator.note(`condition Stalled: ${stalled}`);
  await why();
  await set.setImage('3');
  await set.rolledOut('3');
  await set.condition('Stalled', 'False');
  set.keptTo(0);
  narrator.event('the admin undoes the rollout: the pods that waited are deleted, those of proxy:3 were never restarted');
}

/** A StatefulSet that is updated two at a time, freed from a bad revision, and whose volumes grow. @throws as soon as a step does not happen as described */
async function statefulSetStory(context: Context, cluster: DemoCluster, narrator: Narrator): Promise<void> {
  const { signal } = context;
  const { client } = cluster;
  const why = () => typed(context, narrator, ['why', 'statefulset', `${SHOP}/db`], `--kubeconfig=${cluster.kubeconfig}`);
  const set = new RolledSet(cluster, statefulSets, { namespace: SHOP, name: 'db', count: DB }, signal);
  const capacities = watchCapacities(context, cluster);

  narrator.step('A StatefulSet with volumes');
  await client.create(storageClasses, { metadata: { name: 'fast' }, provisioner: 'demo.dkc.dev', allowVolumeExpansion: true }, { signal });
  await client.create(statefulSets, manifest('1', '1Gi', {}), { signal });
  await set.rolledOut('1');
  narrator.event(`the admin creates StatefulSet ${SHOP}/db: ${DB} pods one after the other, each with a volume of 1Gi`);
  set.resetPeak();
  await set.setImage('2', { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } });
  await set.rolledOut('2');
  set.keptTo(2);
  narrator.event(`image db:2 with maxUnavailable 2: all pods have it; at most ${set.peak} were unavailable at once`);

  narrator.step('A revision that never becomes ready');
  await set.setImage(MISSING, { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });
  await set.until(`db-${DB - 1} waiting for its image`, (now) => waits(now.get(`${SHOP}/db-${DB - 1}`)?.status));
  narrator.event(`db-${DB - 1} cannot pull its image, and the rollout waits for it`);
  await why();
  await set.setImage('3', {}, { 'dkc.dev/forced-rollback': 'true' });
  await set.rolledOut('3');
  narrator.event('the admin sets image db:3 and dkc.dev/forced-rollback: the broken pod is replaced, and the rollout goes on to its end');
  narrator.note('without the annotation the rollout would wait for the broken pod until an admin deletes it');

  narrator.step('Volumes that grow');
  await client.delete(statefulSets, { name: 'db', namespace: SHOP }, { body: { propagationPolicy: 'Orphan' }, signal });
  await set.until('the pods left alone', (now) => [...now.values()].every(({ metadata }) => metadata.labels?.['app'] !== 'db' || (metadata.ownerReferences ?? []).length === 0)); // prettier-ignore
  const uids = uidsOf(cluster);
  await client.create(statefulSets, manifest('3', '2Gi', { 'dkc.dev/expand-claims': 'true' }), { signal });
  await capacities.until(
    'all volumes with 2Gi',
    (now) => now.size === DB && [...now.values()].every((size) => size === '2Gi'),
    120_000,
    signal,
  );
  await set.until('the pods taken over', (now) =>
    set.ready(now, '3').every(({ metadata }) => (metadata.ownerReferences ?? []).length === 1),
  );
  if (uidsOf(cluster) !== uids) throw new Error('a pod was replaced while the volumes grew');
  narrator.event('the admin recreates the set with templates of 2Gi and dkc.dev/expand-claims: all volumes grow, no pod is restarted');
  narrator.note(await eventText(context, client, 'ClaimExpanded'));
}

function manifest(tag: string, storage: string, annotations: Readonly<Record<string, string>>) {
  const labels = { app: 'db' };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  return {
    metadata: { name: 'db', namespace: SHOP, annotations },
    spec: {
      serviceName: 'db',
      replicas: DB,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: image('db', tag), volumeMounts }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage } } },
        },
      ],
    },
  };
}

/** Starts to provision volumes. @returns the capacity of each claim's volume, by name of the claim */
function watchCapacities({ clock }: Context, cluster: DemoCluster): Eye<ReadonlyMap<string, string>> {
  const storage = new PlayedStorage(cluster.client);
  const eye = new Eye<ReadonlyMap<string, string>>(clock);
  const sizes = new Map<string, string>();
  cluster.onChange((kind, { object }) => {
    if (kind !== `/${persistentVolumeClaims.resource}`) return;
    const claim = object as Kube<PersistentVolumeClaim>;
    sizes.set(claim.metadata.name ?? '', claim.status?.capacity?.['storage'] ?? '');
    storage.see(claim);
    eye.see(sizes);
  });
  return eye;
}

const waits = (status: { containerStatuses?: { state?: { waiting?: unknown } }[] } | undefined): boolean =>
  (status?.containerStatuses ?? []).some(({ state }) => state?.waiting !== undefined);

const uidsOf = ({ pods: { last } }: DemoCluster): string =>
  [...(last?.values() ?? [])].flatMap(({ metadata }) => (metadata.labels?.['app'] === 'db' ? [metadata.uid ?? ''] : [])).toSorted().join(); // prettier-ignore
