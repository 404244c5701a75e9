import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { controllerManager } from '../../test/support/real-parts/controller-manager.ts';
import { freePorts } from '../../test/support/real-parts/free-ports.ts';
import { dkcPlan, startPlan } from '../subject.ts';
import type { Plan, Subject } from '../subject.ts';
import type { Place, User } from './site.ts';

/** The controller to run. */
export interface Work {
  controller: 'daemonset' | 'statefulset';
  /** Number of workers, for both subjects. */
  workers: number;
  /** Flag of kube-controller-manager for this number. */
  workersFlag?: string;
}

/** The default of kube-controller-manager; 1.20 has no flag for another number. */
const daemonSetWork: Work = { controller: 'daemonset', workers: 2 };

/** Starts a controller without leader election; its caches are synced, or will be soon. */
export async function startController(user: User, place: Place, work: Work = daemonSetWork): Promise<Subject<User>> {
  const [port = 0] = await freePorts(1);
  const kubeconfig = await place.kubeconfig(user);
  const plans = { dkc: ours, 'kube-controller-manager': theirs };
  return startPlan(user, await plans[user]({ kubeconfig, port, place, work }), place.directory, place.plane?.ca);
}

interface Asked {
  kubeconfig: string;
  port: number;
  place: Place;
  work: Work;
}

function ours({ kubeconfig, port, place: { directory }, work }: Asked): Plan {
  const command = ['controllers', 'run', `--controllers=${work.controller}`, `--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  return dkcPlan([...command, `--concurrent-syncs=${work.workers}`], { port, directory });
}

function theirs({ kubeconfig, port, place, work }: Asked): Promise<Plan> {
  const more = work.workersFlag === undefined ? [] : [`${work.workersFlag}=${work.workers}`];
  return managerPlan({ kubeconfig, port, place, controllers: work.controller, more });
}

/** @param controllers - the value of `--controllers` */
async function managerPlan({
  kubeconfig,
  port,
  place,
  controllers,
  more,
}: Omit<Asked, 'work'> & { controllers: string; more: readonly string[] }): Promise<Plan> {
  const { plane } = place;
  if (plane === undefined) throw new TypeError('kube-controller-manager works on a real control plane');
  const home = await mkdtemp(join(place.directory, 'manager-'));
  return controllerManager({ plane, home, kubeconfig, port, controllers, more: ['--leader-elect=false', ...more] });
}

/** Starts the garbage collector for both subjects in a separate process: its costs are not counted. */
export async function startCollector(place: Place): Promise<AsyncDisposable> {
  const [port = 0] = await freePorts(1);
  const plan = await managerPlan({ kubeconfig: await place.kubeconfig(), port, place, controllers: 'garbagecollector', more: [] });
  return startPlan('garbage-collector', plan, place.directory, place.plane?.ca);
}
