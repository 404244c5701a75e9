import { daemonSetController } from '../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../controllers/statefulset/controller.ts';
import { namespaces } from '../../kube/api/resources.ts';
import { defaultSchedulerConfig } from '../../scheduler/config/defaults.ts';
import { schedulerRunnable, servedKinds } from '../../scheduler/scheduler.ts';
import type { Context } from '../command.ts';
import { buildCluster, type DemoCluster } from './cluster/demo-cluster.ts';
import { NODES, SHOP } from './controllers-names.ts';
import { tellDaemonSet } from './daemonset-steps.ts';
import { tellStatefulSet } from './statefulset-steps.ts';
import type { Teller } from './teller.ts';

/** A DaemonSet and a StatefulSet through good and bad rollouts. @returns the cluster as it is in the end @throws as soon as something does not happen as told */
export async function tellControllers(context: Context, teller: Teller, undo: AsyncDisposableStack): Promise<DemoCluster> {
  const { signal } = context;
  const cluster = undo.use(await buildCluster(context, { count: NODES, cpus: 4 }));
  const { client } = cluster;
  await client.create(namespaces, { metadata: { name: SHOP } }, { signal });
  const served = await servedKinds(client, signal);
  await cluster.start('dkc-scheduler', (runtime) => schedulerRunnable(runtime, defaultSchedulerConfig, served));
  await cluster.start('dkc-controllers', (runtime) => [daemonSetController(runtime), statefulSetController(runtime)]);
  await tellDaemonSet(context, cluster, teller);
  await tellStatefulSet(context, cluster, teller);
  return cluster;
}
