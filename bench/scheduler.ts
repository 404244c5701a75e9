import { type KubeObject, priorityClasses } from '../kube/api/object.ts';
import type { Client } from '../kube/client/client.ts';
import { ApiError } from '../kube/client/errors.ts';
import { RealPartsUnavailable } from '../test/support/real-parts/real-kubelet.ts';
import { inTurn } from './daemonset/cost.ts';
import { addNamespace, addNodes, removePods } from './daemonset/fleet.ts';
import { numberOf } from './daemonset/number.ts';
import { benchSite } from './daemonset/site.ts';
import type { Figure } from './figure.ts';
import { hasAim, schedulerFigures } from './scheduler/figures.ts';
import { chosenWorkloads, PRIORITY_CLASS, type Workload, workloads } from './scheduler/pods.ts';
import type { Who } from './scheduler/subject.ts';
import { addStanding, type Backlog, takeBacklog, takeTurn, type Turn } from './scheduler/turn.ts';

/**
 * Pods scheduled on 1,000 nodes (DKC_NODES) of a real control plane, by our scheduler and kube-scheduler alternately: 2,000 (DKC_PODS) of the basic kind,
 * as fast as the server creates them and, for kinds with an aim, as a backlog; half as many of every other kind (DKC_WORKLOADS, names separated by
 * commas). Two rounds (DKC_ROUNDS) of the basic kind, half as many of every other. Runs only if named.
 */
export async function schedulerWork(): Promise<Figure[] | string> {
  const count = numberOf(process.env, 'DKC_NODES', 1_000);
  const pods = numberOf(process.env, 'DKC_PODS', 2_000);
  const rounds = numberOf(process.env, 'DKC_ROUNDS', 2);
  const chosen = chosenWorkloads(process.env['DKC_WORKLOADS']);
  const turns: Turn[] = [];
  const backlogs: Backlog[] = [];
  try {
    await using place = await benchSite();
    const { client } = place;
    const nodes = await addNodes(client, count, 0);
    await client.create<KubeObject & { value: number }>(priorityClasses, { metadata: { name: PRIORITY_CLASS }, value: 1_000 });
    // The first turn on a new API server is the slowest for any subject, so it is not counted.
    await takeTurn('kube-scheduler', 'basic', { place, nodes, pods: Math.ceil(pods / 2), namespace: 'server-warm-up' });
    for (const name of chosen) {
      const { standing }: Workload = workloads[name];
      const shared = `${name}-standing`;
      if (standing?.anew === false) {
        await addNamespace(client, shared);
        await addStanding(client, shared, standing, nodes, pods);
      }
      for (let round = 0; round < (name === 'basic' ? rounds : Math.ceil(rounds / 2)); round++) {
        for (const who of inTurn<Who>(round, ['dkc', 'kube-scheduler'])) {
          const options = { place, nodes, pods, namespace: `${name}-${round}-${who}` };
          turns.push(await takeTurn(who, name, options));
          if (hasAim(name)) backlogs.push(await takeBacklog(who, name, { ...options, namespace: `backlog-${name}-${round}-${who}` }));
        }
      }
      if (standing?.anew === false) await removeMany(client, shared);
    }
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
  return schedulerFigures(turns, backlogs, count);
}

const TIMEOUT = 504;
const TRIES = 20;

/** Deletes pods, and retries: a request for ten thousand pods may time out on the server, and figures must not be lost for that. */
async function removeMany(client: Client, namespace: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await removePods(client, namespace);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== TIMEOUT || tries >= TRIES) throw error;
    }
  }
}
