import type { Chart, Row } from './bars.ts';
import type { ResultName, Results, Summary } from './results.ts';

/** A figure by its `what`, and its index from 0 if several have the same. */
type Pick = readonly [label: string, result: ResultName, what: string, nth?: number];

const rowsOf = (results: Results, picks: readonly Pick[]): Row[] =>
  picks.map(([label, result, what, nth = 0]) => {
    const figure = results[result].figures.filter((one) => one.what === what)[nth];
    const against: Summary | undefined = figure?.against;
    if (figure === undefined || against === undefined)
      throw new RangeError(`bench/results/${result}.json has no ratio ${JSON.stringify(what)}`);
    return { label, figure: { ...figure, against } };
  });

const ORDERED = 'StatefulSets, 100 x 10 OrderedReady';
const PARALLEL = 'StatefulSets, 1 x 1,000 Parallel';
const DAEMONS = 'DaemonSet, 1,000 nodes';
const BASIC = 'scheduler, 1,000 nodes, basic';
const BACKLOG = 'scheduler, 1,000 nodes, backlog';

/** The pictures of docs/benchmarks.md, by the name of their file. */
export const charts = (results: Results): Readonly<Record<string, Chart>> => ({
  agent: {
    title: 'The agent beside an empty Node process',
    subtitle: 'Less is better. Each row has its own scale; thin lines go from the lowest to the highest value.',
    ours: 'agent',
    against: 'empty Node',
    rows: rowsOf(results, [
      ['memory, idle with two watches', 'agent', 'agent memory, idle with two watches'],
      ['start to READY=1, 100 checkpoints', 'agent', 'agent start to READY=1, 100 checkpoints'],
      ['the same as processor time', 'agent', 'the same as processor time'],
    ]),
  },
  controllers: {
    title: 'The set controllers beside kube-controller-manager',
    subtitle: 'Less is better. One real API server, turn by turn; each row has its own scale.',
    ours: 'dkc controllers',
    against: 'kube-controller-manager',
    rows: rowsOf(results, [
      ['DaemonSet, 1,000 nodes: made', 'daemonset', `${DAEMONS}: from create to right status`],
      ['processor time for that', 'daemonset', `${DAEMONS}: CPU for that`],
      ['new template on all', 'daemonset', `${DAEMONS}: new template on all, maxUnavailable 10%`],
      ['processor time for that', 'daemonset', `${DAEMONS}: CPU for that`, 1],
      ['memory afterwards', 'daemonset', `${DAEMONS}: memory afterwards`],
      ['100 StatefulSets of 10: made', 'statefulset', `${ORDERED}: from create to right status`],
      ['processor time for that', 'statefulset', `${ORDERED}: CPU for that`],
      ['new template on all', 'statefulset', `${ORDERED}: new template on all`],
      ['processor time for that', 'statefulset', `${ORDERED}: CPU for that`, 1],
      ['StatefulSet of 1,000, Parallel: made', 'statefulset', `${PARALLEL}: from create to right status`],
      ['new template on all', 'statefulset', `${PARALLEL}: new template on all`],
      ['processor time for that', 'statefulset', `${PARALLEL}: CPU for that`, 1],
      ['memory afterwards', 'statefulset', 'StatefulSets, memory afterwards'],
    ]),
  },
  scheduler: {
    title: 'The scheduler beside kube-scheduler, 1,000 nodes',
    subtitle: 'Of pods a second more is better, of all else less. Each row has its own scale.',
    ours: 'dkc scheduler',
    against: 'kube-scheduler',
    rows: rowsOf(results, [
      ['2,000 pods as they come: placed', 'scheduler', `${BASIC}: placed from first creation to last binding`],
      ['from created to bound, p50', 'scheduler', `${BASIC}: from created to bound, p50`],
      ['from created to bound, p99', 'scheduler', `${BASIC}: from created to bound, p99`],
      ['processor time per 1,000 pods', 'scheduler', `${BASIC}: CPU per 1,000 pods`],
      ['memory afterwards', 'scheduler', `${BASIC}: memory afterwards`],
      ['2,000 pods that wait: placed', 'scheduler', `${BACKLOG}: placed from first to last binding`],
      ['processor time for that', 'scheduler', `${BACKLOG}: CPU for that, start of the process included`],
    ]),
  },
  growth: {
    title: 'What one event costs in a larger cluster',
    subtitle: 'Bars of equal length: the cost does not grow with the cluster. Each row has its own scale.',
    ours: 'large',
    against: 'a tenth, or a fifteenth',
    rows: rowsOf(results, [
      ['node heartbeat, 10,000 nodes', 'daemonset-growth', 'CPU per event at 10,000 nodes: node heartbeat'],
      ['node label of no set, 10,000 nodes', 'daemonset-growth', 'CPU per event at 10,000 nodes: node label of no set'],
      ['node label of one set, 10,000 nodes', 'daemonset-growth', 'CPU per event at 10,000 nodes: node label of one set'],
      ['pod status, 10,000 nodes', 'daemonset-growth', 'CPU per event at 10,000 nodes: pod status'],
      ['rollout: one look, 5,000 nodes', 'rollout-growth', "rollout: observe and plan after one node's event, 5,000 nodes"],
      ['scheduler: one decision, 15,000 nodes', 'scheduler-core', 'scheduler core: a basic decision on 15,000 nodes'],
    ]),
  },
});
