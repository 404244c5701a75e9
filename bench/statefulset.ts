import { startHollow } from '../test/support/hollow/start-hollow.ts';
import { RealPartsUnavailable } from '../test/support/real-parts/real-kubelet.ts';
import { readsOf, writesOf } from './daemonset/calls.ts';
import { inTurn } from './daemonset/cost.ts';
import { numberOf } from './daemonset/number.ts';
import { benchSite } from './daemonset/site.ts';
import type { User } from './daemonset/site.ts';
import { startCollector } from './daemonset/subject.ts';
import { nodeNames, NODES } from './statefulset/sets.ts';
import { podsOf, shapeText } from './statefulset/state.ts';
import type { Shape } from './statefulset/state.ts';
import { firstOf, partNames, takeTurn } from './statefulset/turn.ts';
import type { Turn } from './statefulset/turn.ts';
import type { Figure } from './figure.ts';

/**
 * StatefulSets on a real control plane, by our controller and kube-controller-manager alternately: 100 sets (DKC_SETS) of 10 pods (DKC_REPLICAS)
 * one after the other, then as many pods in one set in parallel; created, updated, deleted. Two rounds (DKC_ROUNDS). Runs only if named.
 */
export async function statefulSetWork(): Promise<Figure[] | string> {
  const sets = numberOf(process.env, 'DKC_SETS', 100);
  const replicas = numberOf(process.env, 'DKC_REPLICAS', 10);
  const rounds = numberOf(process.env, 'DKC_ROUNDS', 2);
  const shapes: Shape[] = [
    { sets, replicas, podManagementPolicy: 'OrderedReady' },
    { sets: 1, replicas: sets * replicas, podManagementPolicy: 'Parallel' },
  ];
  try {
    await using site = await benchSite();
    await using _hollow = await startHollow({ kubeconfig: await site.kubeconfig(), binds: true, count: NODES, prefix: nodeNames });
    await using _collector = await startCollector(site);
    // The first turn on a new API server is the slowest for any subject, so it is not counted.
    await takeTurn('kube-controller-manager', site, shapes.map(firstOf), 'server-warm-up');
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const user of inTurn<User>(round, ['dkc', 'kube-controller-manager'])) {
        turns.push(await takeTurn(user, site, shapes, `round-${round}-${user}`));
      }
    }
    return setFigures(turns, shapes);
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
}

const partTexts = { create: 'from create to right status', update: 'new template on all', remove: 'from delete to the last pod gone' };

/** Only creation and update have an aim and calls: the garbage collector deletes the pods. */
function setFigures(turns: readonly Turn[], shapes: readonly Shape[]): Figure[] {
  const figure = (what: string, unit: string, valueOf: (turn: Turn) => number, hasAim: boolean): Figure => {
    const sample = (name: Turn['user']) => ({ name, unit, values: turns.filter(({ user }) => user === name).map(valueOf) });
    const beside = { ours: sample('dkc'), against: sample('kube-controller-manager') };
    return { what: `StatefulSets, ${what}`, ...beside, ...(hasAim && { reach: { atMost: 1 } }) };
  };
  const figures = shapes.flatMap((shape, n) =>
    partNames.flatMap((name) => {
      const hasAim = name !== 'remove';
      const part = ({ parts }: Turn) => {
        const found = parts[n]?.[name];
        if (found === undefined) throw new RangeError(`a turn did not measure ${shapeText(shape)}`);
        return found;
      };
      const callsPerPod = (turn: Turn): number => (writesOf(part(turn).calls) + readsOf(part(turn).calls)) / podsOf(shape);
      return [
        figure(`${shapeText(shape)}: ${partTexts[name]}`, 's', (turn) => part(turn).doneMs / 1_000, hasAim),
        figure(`${shapeText(shape)}: CPU for that`, 'ms', (turn) => part(turn).cpuMs, hasAim),
        ...(hasAim ? [figure(`${shapeText(shape)}: calls per pod for that`, 'calls', callsPerPod, false)] : []),
      ];
    }),
  );
  const [shape] = shapes;
  const burst = shape === undefined ? '' : `first burst of the process, ${shapeText(firstOf(shape))}`;
  return [
    figure(burst, 's', ({ first }) => first.doneMs / 1_000, true),
    figure(`${burst}: CPU for that`, 'ms', ({ first }) => first.cpuMs, true),
    ...figures,
    figure('memory afterwards', 'MB', ({ usage }) => usage.rssMb, false),
  ];
}
