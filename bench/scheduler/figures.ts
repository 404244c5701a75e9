import { quantile, type Figure } from '../figure.ts';
import { workloads, type WorkloadName } from './pods.ts';
import type { Who } from './subject.ts';
import type { Backlog, Turn } from './turn.ts';

/** Aims: kube-scheduler takes longest for pods with requirements on nodes or other pods; for plain pods the server is the limit. */
const pace: Partial<Record<WorkloadName, number>> = { basic: 2, 'node-affinity': 3, affinity: 3, 'anti-affinity': 3, spread: 3 };
export const hasAim = (name: WorkloadName): boolean => name in pace;
const paceOf = (name: WorkloadName): Figure['reach'] => (pace[name] === undefined ? undefined : { atLeast: pace[name] });

export function schedulerFigures(turns: readonly Turn[], backlogs: readonly Backlog[], nodes: number): Figure[] {
  const names = [...new Set(turns.map(({ workload }) => workload))];
  const figures = names.flatMap((name) => ofWorkload(turns.filter(({ workload }) => workload === name), name)); // prettier-ignore
  const all = [...figures, ...names.flatMap((name) => ofBacklogs(backlogs.filter(({ workload }) => workload === name), name))]; // prettier-ignore
  return all.map((figure) => ({ ...figure, what: `scheduler, ${nodes.toLocaleString('en')} nodes, ${figure.what}` }));
}

function ofWorkload(turns: readonly Turn[], name: WorkloadName): Figure[] {
  const { text } = workloads[name];
  const share = hasAim(name) ? { atMost: 0.3 } : undefined;
  const about = (what: string): string => `${text}: ${what}`;
  return [
    beside(turns, about('placed from first creation to last binding'), 'pods/s', podsPerSecond, paceOf(name)),
    beside(turns, about('from created to bound, p50'), 'ms', (turn) => latency(turn, 0.5)),
    beside(turns, about('from created to bound, p99'), 'ms', (turn) => latency(turn, 0.99), share),
    beside(turns, about('CPU per 1,000 pods'), 'ms', cpuPerThousand, share),
    ...(name === 'basic' ? [beside(turns, about('memory afterwards'), 'MB', ({ usage }) => usage.rssMb)] : []),
  ];
}

function ofBacklogs(backlogs: readonly Backlog[], name: WorkloadName): Figure[] {
  if (backlogs.length === 0) return [];
  const alone = backlogs.map(({ times, createdMs }) => (times.length / createdMs) * 1_000);
  const isBasic = name === 'basic';
  const about = (what: string): string => `backlog${isBasic ? '' : `, ${workloads[name].text}`}: ${what}`;
  const sinceStart = ({ times, startedMs }: Backlog): number => (lastOf(times) - startedMs) / 1_000;
  return [
    ...(isBasic
      ? [{ what: 'basic: created while no scheduler runs', ours: { name: 'kube-apiserver', unit: 'pods/s', values: alone } }]
      : []),
    beside(backlogs, about('placed from first to last binding'), 'pods/s', bindsPerSecond, paceOf(name)),
    beside(backlogs, about('from start of the process to last binding'), 's', sinceStart),
    beside(backlogs, about('CPU for that, start of the process included'), 'ms', ({ usage }) => usage.cpuMs),
  ];
}

function beside<T extends { who: Who }>(
  turns: readonly T[],
  what: string,
  unit: string,
  valueOf: (turn: T) => number,
  reach?: Figure['reach'],
): Figure {
  const sample = (name: Who) => ({ name, unit, values: turns.filter(({ who }) => who === name).map(valueOf) });
  return { what, ours: sample('dkc'), against: sample('kube-scheduler'), ...(reach && { reach }) };
}

const lastOf = (times: Turn['times']): number => times.reduce((last, { bound }) => Math.max(last, bound), 0);
const firstOf = (times: Turn['times']): number => times.reduce((first, { bound }) => Math.min(first, bound), Infinity);
const latency = ({ times }: Turn, q: number): number => quantile(times.map(({ seen, bound }) => bound - seen), q); // prettier-ignore
const podsPerSecond = ({ times, fromMs }: Turn): number => (times.length / (lastOf(times) - fromMs)) * 1_000;
const cpuPerThousand = ({ times, cpuMs }: Turn): number => (cpuMs / times.length) * 1_000;
/** The first bind only starts the clock. */
const bindsPerSecond = ({ times }: Backlog): number => ((times.length - 1) / (lastOf(times) - firstOf(times))) * 1_000;
