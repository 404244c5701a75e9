import { startHollow } from '../test/support/hollow/start-hollow.ts';
import { RealPartsUnavailable } from '../test/support/real-parts/real-kubelet.ts';
import { inTurn } from './daemonset/cost.ts';
import { writesOf } from './daemonset/calls.ts';
import { addNodes } from './daemonset/fleet.ts';
import { numberOf } from './daemonset/number.ts';
import { benchSite } from './daemonset/site.ts';
import type { User } from './daemonset/site.ts';
import { takeTurn } from './daemonset/turn.ts';
import type { Turn } from './daemonset/turn.ts';
import type { Figure } from './figure.ts';

/**
 * One DaemonSet on 1,000 hollow nodes (DKC_NODES) of a real control plane, by our controller and kube-controller-manager alternately: created, then
 * updated. Three rounds (DKC_ROUNDS).
 */
export async function daemonSetWork(): Promise<Figure[] | string> {
  const count = numberOf(process.env, 'DKC_NODES', 1_000);
  const rounds = numberOf(process.env, 'DKC_ROUNDS', 3);
  const counts = { all: count, some: Math.min(count, Math.max(20, Math.ceil(count / 2))) };
  try {
    await using site = await benchSite();
    await addNodes(site.client, counts.all, counts.some);
    await using _ = await startHollow({ kubeconfig: await site.kubeconfig(), binds: true });
    // The first turn on a new API server is the slowest for any subject, so it is not counted.
    await takeTurn('kube-controller-manager', site, counts, 'server-warm-up');
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const user of inTurn<User>(round, ['dkc', 'kube-controller-manager'])) {
        turns.push(await takeTurn(user, site, counts, `round-${round}-${user}`));
      }
    }
    return workFigures(turns, counts);
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
}

function workFigures(turns: readonly Turn[], { all: nodes, some }: { all: number; some: number }): Figure[] {
  const figure = (what: string, unit: string, valueOf: (turn: Turn) => number): Figure => {
    const sample = (name: Turn['user']) => ({ name, unit, values: turns.filter(({ user }) => user === name).map(valueOf) });
    const beside = { ours: sample('dkc'), against: sample('kube-controller-manager') };
    return { what: `DaemonSet, ${nodes.toLocaleString('en')} nodes: ${what}`, ...beside, reach: { atMost: 1 } };
  };
  return [
    figure(`first burst of the process, on ${some.toLocaleString('en')} of them`, 's', ({ first }) => first.doneMs / 1_000),
    figure('CPU for that', 'ms', ({ first }) => first.cpuMs),
    figure('from create to right status', 's', ({ create }) => create.doneMs / 1_000),
    figure('CPU for that', 'ms', ({ create }) => create.cpuMs),
    figure('writes per pod for that', 'calls', ({ create }) => writesOf(create.calls) / nodes),
    figure('new template on all, maxUnavailable 10%', 's', ({ update }) => update.doneMs / 1_000),
    figure('CPU for that', 'ms', ({ update }) => update.cpuMs),
    figure('writes per pod for that', 'calls', ({ update }) => writesOf(update.calls) / nodes),
    figure('memory afterwards', 'MB', ({ usage }) => usage.rssMb),
  ];
}
