import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from '../../test/support/real-parts/free-ports.ts';
import { kubeScheduler } from '../../test/suites/real/scheduler/kube-scheduler.ts';
import type { Place } from '../daemonset/site.ts';
import { dkcPlan, startPlan } from '../subject.ts';
import type { Plan, Subject } from '../subject.ts';

export type Who = 'dkc' | 'kube-scheduler';

/** Starts a scheduler without leader election and waits until it is ready. It schedules pods with the default scheduler name. */
export async function startScheduler(who: Who, place: Pick<Place, 'kubeconfig' | 'directory' | 'plane'>): Promise<Subject<Who>> {
  const [port = 0] = await freePorts(1);
  const { directory, plane } = place;
  const plans = { dkc: ours, 'kube-scheduler': theirs };
  return startPlan(who, await plans[who]({ kubeconfig: await place.kubeconfig(), port, directory, plane }), directory, plane?.ca);
}

interface Asked {
  kubeconfig: string;
  port: number;
  directory: string;
  plane: Place['plane'];
}

async function ours({ kubeconfig, port, directory }: Asked): Promise<Plan> {
  const config = join(directory, 'dkc-scheduler.yaml');
  await writeFile(config, stringify({ leaderElection: { enabled: false } }));
  return dkcPlan(['scheduler', 'run', `--config=${config}`, `--kubeconfig=${kubeconfig}`], { port, directory });
}

/** kube-scheduler with its default percentageOfNodesToScore: only a share of the nodes on clusters of more than 100. */
async function theirs({ kubeconfig, port, directory, plane }: Asked): Promise<Plan> {
  if (plane === undefined) throw new TypeError('kube-scheduler works on a real control plane');
  return kubeScheduler({ plane, home: directory, kubeconfig, port });
}
