import { daemonSets } from '../../kube/api/resources.ts';
import type { Context } from '../command.ts';
import type { DemoCluster } from './cluster/demo-cluster.ts';
import { image, RolledSet } from './cluster/rollout-of-set.ts';
import { MISSING_TAG } from './cluster/played-pods.ts';
import { NODES, SHOP } from './controllers-names.ts';
import { typed, type Teller } from './teller.ts';

const MISSING = MISSING_TAG.slice(1);

/** A DaemonSet that is rolled out in two ways, paused, stopped by an image that is not there, and undone. @throws as soon as something does not happen as told */
export async function tellDaemonSet(context: Context, cluster: DemoCluster, teller: Teller): Promise<void> {
  const { signal } = context;
  const why = () => typed(context, teller, ['why', 'daemonset', `${SHOP}/proxy`], `--kubeconfig=${cluster.kubeconfig}`);
  const set = new RolledSet(cluster, daemonSets, { namespace: SHOP, name: 'proxy', count: NODES }, signal);

  teller.step(`A DaemonSet on ${NODES} nodes`);
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
  teller.happened(`the admin creates DaemonSet ${SHOP}/proxy with maxUnavailable 2: a ready pod on each node`);

  teller.step('A rollout that is paused half-way');
  set.resetPeak();
  await set.setImage('2');
  await set.until('the first pods updated', (now) => set.ready(now, '2').length > 0);
  await set.annotate({ 'dkc.dev/paused': 'true' });
  await set.condition('Progressing', 'Unknown', 'RolloutPaused');
  await set.until('all pods ready', (now) => set.places(now) === NODES);
  teller.happened('the admin sets image proxy:2, and dkc.dev/paused when the first pods have it: no further pod is replaced');
  await why();
  await set.annotate({ 'dkc.dev/paused': null });
  await set.rolledOut('2');
  set.keptTo(2);
  teller.happened(`the admin removes the annotation: all pods have proxy:2; at most ${set.peak} nodes were without a ready pod at once`);

  teller.step('A rollout without a gap');
  set.resetPeak();
  await set.setImage('3', { updateStrategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } });
  await set.rolledOut('3');
  set.keptTo(0);
  teller.happened('with maxSurge 2 the new pod comes beside the old one: no node was ever without a ready pod');

  teller.step('An image that does not exist');
  set.resetPeak();
  await set.setImage(MISSING, {}, { 'dkc.dev/progress-deadline': '2s' });
  const stalled = await set.condition('Stalled', 'True', 'NotReady');
  set.keptTo(0);
  teller.happened('two new pods cannot pull it; the old ones stay, and after dkc.dev/progress-deadline the status says so:');
  teller.note(`condition Stalled: ${stalled}`);
  await why();
  await set.setImage('3');
  await set.rolledOut('3');
  await set.condition('Stalled', 'False');
  set.keptTo(0);
  teller.happened('the admin undoes the rollout: the pods that waited are deleted, those of proxy:3 were never restarted');
}
