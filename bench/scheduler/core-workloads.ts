import { postFilter } from '../../scheduler/preempt/post-filter.ts';
import { podInfoOf, type PodInfo } from '../../scheduler/pod/pod-info.ts';
import { pod, type PodBuilder } from '../../test/unit/scheduler/builders.ts';
import { APPS, type Core } from './core-cluster.ts';

/** Pods of one kind, and the expected result for each. */
export interface CoreWorkload {
  name: string;
  pod: (n: number) => PodBuilder;
  /** @default `placed` */
  becomes?: 'placed' | 'refused' | 'given room';
  /** Pods on the nodes before the benchmark. @default 'some' of every size */
  before?: 'some' | 'full';
  /** Pods of an application have a service. */
  hasServices?: true;
}

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

const appOf = (n: number): string => `app-${n % APPS}`;
const basic = (n: number): PodBuilder =>
  pod(`pod-${n}`)
    .cpu('100m')
    .memory('128Mi')
    .labels({ app: appOf(n) });
const term = (n: number, topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels: { app: appOf(n) } } });

/** The workload with an aim. */
export const basicPods: CoreWorkload = { name: 'basic', pod: basic };

export const otherPods: readonly CoreWorkload[] = [
  {
    name: 'node affinity',
    pod: (n) =>
      basic(n).affinity({
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: ['zone-0', 'zone-1'] }] }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['pool-1', 'pool-2'] }] } },
          ],
        },
      }),
  },
  {
    name: 'hard spread over zones',
    pod: (n) => basic(n).spec({ topologySpreadConstraints: [{ ...term(n, ZONE), maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }),
  },
  { name: 'default spread of a service', pod: basic, hasServices: true },
  {
    name: 'required anti-affinity, hostname',
    pod: (n) => basic(n).affinity({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(n, HOSTNAME)] } }),
  },
  {
    name: 'preferred affinity, hostname',
    pod: (n) =>
      basic(n).affinity({
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term(n, HOSTNAME) }] },
      }),
  },
  { name: 'other requests in every pod', pod: (n) => basic(n).cpu(`${50 + (n % 4_000)}m`) },
  { name: 'no place for them', pod: (n) => basic(n).cpu('65'), becomes: 'refused' },
  { name: 'plan to preempt', pod: (n) => basic(n).cpu('4').priority(1_000), becomes: 'given room', before: 'full' },
];

export const podsOf = ({ pod: make }: CoreWorkload, count: number): PodInfo[] =>
  Array.from({ length: count }, (_, n) => podInfoOf(make(n).build()));

const LOOK_EVERY = 16;

/**
 * Decisions per second: schedules the pods one after the other, until all are done or the time is over; each scheduled pod is assumed on its node.
 * @throws if the result for a pod is not the expected one
 */
export function decisionsPerSecond(
  core: Core,
  { name, becomes = 'placed' }: CoreWorkload,
  pods: readonly PodInfo[],
  mostMs: number,
): number {
  const { engine, cluster, profile } = core;
  const from = performance.now();
  let done = 0;
  for (const info of pods) {
    const decision = engine.decide(info, profile);
    if (decision.placed) cluster.assume(info, decision.node);
    const chosen = becomes === 'given room' && !decision.placed ? postFilter(core, info, profile, decision.error).chosen : undefined;
    const became = decision.placed ? 'placed' : chosen === undefined ? 'refused' : 'given room';
    if (became !== becomes) throw new Error(`${name}: pod ${done} was ${became}`);
    done += 1;
    if (done % LOOK_EVERY === 0 && performance.now() - from > mostMs) break;
  }
  return (done / (performance.now() - from)) * 1_000;
}
