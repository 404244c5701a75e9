import { join } from 'node:path';
import { freePorts } from '../../test/support/real-parts/free-ports.ts';
import { realParts } from '../../test/support/real-parts/real-kubelet.ts';
import { dkcPlan, startPlan } from '../subject.ts';
import type { Plan, Subject } from '../subject.ts';
import type { Place, User } from './site.ts';

/** What is to be controlled. */
export interface Work {
  controller: 'daemonset' | 'statefulset';
  /** Sets reconciled at once, of both. */
  workers: number;
  /** Of kube-controller-manager, to say so. */
  workersFlag?: string;
}

/** kube-controller-manager 1.20 cannot be told another number. */
const daemonSetWork: Work = { controller: 'daemonset', workers: 2 };
/** More than either ever asks for: the client's own limit is lifted. */
const NO_LIMIT = 100_000;

/** Starts a controller with caches that are full, or soon are, and without leader election. */
export async function startController(user: User, place: Place, work: Work = daemonSetWork): Promise<Subject<User>> {
  const [port = 0] = await freePorts(1);
  const kubeconfig = await place.kubeconfig(user);
  const plans = { dkc: ours, 'kube-controller-manager': theirs };
  return startPlan(user, await plans[user]({ kubeconfig, port, place, work }), place.directory);
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

function theirs({ kubeconfig, port, work }: Asked): Promise<Plan> {
  const more = work.workersFlag === undefined ? [] : [`${work.workersFlag}=${work.workers}`];
  return managerPlan({ kubeconfig, port, controllers: work.controller, more });
}

/** @param controllers - the value of `--controllers` */
async function managerPlan({
  kubeconfig,
  port,
  controllers,
  more,
}: Pick<Asked, 'kubeconfig' | 'port'> & { controllers: string; more: readonly string[] }): Promise<Plan> {
  const { dir } = await realParts(['kube-controller-manager']);
  return {
    program: join(dir, 'kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${controllers}`,
      '--leader-elect=false',
      `--kube-api-qps=${NO_LIMIT}`,
      `--kube-api-burst=${NO_LIMIT}`,
      '--address=127.0.0.1',
      `--port=${port}`,
      '--secure-port=0',
      ...more,
    ],
    ready: { url: `http://127.0.0.1:${port}/healthz` },
  };
}

/** The garbage collector that both work beside, in a process of its own: what it costs is nobody's. */
export async function startCollector(place: Place): Promise<AsyncDisposable> {
  const [port = 0] = await freePorts(1);
  const plan = await managerPlan({ kubeconfig: await place.kubeconfig(), port, controllers: 'garbagecollector', more: [] });
  return startPlan('garbage-collector', plan, place.directory);
}
