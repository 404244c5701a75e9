import { realClock } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';
import { pods as podResource } from '../../kube/api/object.ts';
import { startHollow } from '../../test/support/hollow/start-hollow.ts';
import { addNamespace, inParallel, removePods } from '../daemonset/fleet.ts';
import type { Usage } from '../daemonset/proc.ts';
import type { Place } from '../daemonset/site.ts';
import { quantile } from '../figure.ts';
import { addClaims } from './claims.ts';
import { benchPod, workloads, type PodShape, type Standing, type Workload, type WorkloadName } from './pods.ts';
import type { Subject } from '../subject.ts';
import { startScheduler } from './subject.ts';
import type { Who } from './subject.ts';
import { watchBinds, type BindTime } from './watch-binds.ts';

/** Results of one scheduler for the pods of one workload. */
export interface Turn {
  who: Who;
  workload: WorkloadName;
  times: readonly BindTime[];
  /** Time of the first create request, in ms since 1970. */
  fromMs: number;
  /** Time until the server had created all pods. */
  createdMs: number;
  /** CPU time of the scheduler until it was idle again. */
  cpuMs: number;
  usage: Usage;
}

export interface TurnOptions {
  place: Place;
  nodes: readonly string[];
  /** Number of pods of a workload with a share of 1. */
  pods: number;
  /** Namespace of this turn only. */
  namespace: string;
}

const IN_FLIGHT = 64;
const now = (): number => performance.timeOrigin + performance.now();

/**
 * One turn: a new scheduler process warms up with a tenth of the pods, then schedules all pods as fast as the server creates them. All are deleted afterwards.
 */
export async function takeTurn(who: Who, workload: WorkloadName, { place, nodes, pods, namespace }: TurnOptions): Promise<Turn> {
  const { client } = place;
  const { share, shape, warmUp = shape, standing, claims, text }: Workload = workloads[workload];
  const count = Math.ceil(pods * share);
  await using undo = new AsyncDisposableStack();
  await addNamespace(client, namespace);
  undo.defer(() => removePods(client, namespace));
  const few = Math.max(20, Math.ceil(count / 10));
  if (claims === true) {
    undo.defer(await addClaims(client, namespace, 'warm', few));
    undo.defer(await addClaims(client, namespace, 'pod', count));
  }
  const shapeAt = (n: number): PodShape => shape(n, nodes);
  const kubeconfig = await place.kubeconfig();
  // Before the scheduler starts, so that the scheduler is disposed of before the objects that it watches are deleted.
  if (standing?.anew === true) {
    if (standing.kubelets === true) undo.use(await startHollow({ kubeconfig }));
    await addStanding(client, namespace, standing, nodes, pods);
  }
  const watcher = undo.use(await watchBinds(kubeconfig, namespace));
  const subject = undo.use(await startScheduler(who, place));
  await Promise.all([watcher.whenBound({ prefix: 'warm-', count: few }), create(client, namespace, 'warm', few, (n) => warmUp(n, nodes))]);
  await removeWarm(client, namespace);
  await settled(subject);

  const before = subject.usage();
  const fromMs = now();
  const [times, createdMs] = await Promise.all([
    watcher.whenBound({ prefix: 'pod-', count }),
    create(client, namespace, 'pod', count, shapeAt).then(() => now() - fromMs),
  ]);
  const doneMs = now() - fromMs;
  await settled(subject);
  const usage = subject.usage();
  const cpuMs = usage.cpuMs - before.cpuMs;
  const waits = times.map(({ seen, bound }) => bound - seen);
  const inSeconds = `${(doneMs / 1_000).toFixed(2)} s, created in ${(createdMs / 1_000).toFixed(2)} s`;
  const waited = `p50 ${quantile(waits, 0.5).toFixed(0)} ms, p99 ${quantile(waits, 0.99).toFixed(0)} ms`;
  console.error(`  ${who}, ${text}: ${count} pods in ${inSeconds}, ${waited}, CPU ${cpuMs} ms, ${usage.rssMb.toFixed(0)} MB`);
  return { who, workload, times, fromMs, createdMs, cpuMs, usage };
}

/** Results for pods that existed before the scheduler started. */
export interface Backlog extends Pick<Turn, 'who' | 'workload' | 'times' | 'createdMs' | 'usage'> {
  /** Start of the scheduler's process, in ms since 1970. */
  startedMs: number;
}

export async function takeBacklog(who: Who, workload: WorkloadName, { place, nodes, pods, namespace }: TurnOptions): Promise<Backlog> {
  const { client } = place;
  const { share, shape, text }: Workload = workloads[workload];
  const count = Math.ceil(pods * share);
  await using undo = new AsyncDisposableStack();
  await addNamespace(client, namespace);
  undo.defer(() => removePods(client, namespace));
  const from = now();
  await create(client, namespace, 'pod', count, (n) => shape(n, nodes));
  const createdMs = now() - from;
  const watcher = undo.use(await watchBinds(await place.kubeconfig(), namespace));
  const bound = watcher.whenBound({ prefix: 'pod-', count });
  const startedMs = now();
  const [subject, times] = await Promise.all([startScheduler(who, place), bound]);
  undo.use(subject);
  const doneMs = now() - startedMs;
  await settled(subject);
  const usage = subject.usage();
  console.error(
    `  ${who}, backlog, ${text}: ${count} pods in ${(doneMs / 1_000).toFixed(2)} s from its start, created in ${(createdMs / 1_000).toFixed(2)} s, CPU ${usage.cpuMs} ms`,
  );
  return { who, workload, times, createdMs, startedMs, usage };
}

/** Creates the standing pods; all turns share them, except with `anew`. */
export async function addStanding(
  client: Client,
  namespace: string,
  { count, shape, kubelets = false }: Standing,
  nodes: readonly string[],
  pods: number,
): Promise<void> {
  await create(client, namespace, 'standing', count(nodes.length, pods), (n) => shape(n, nodes));
  if (!kubelets) return;
  while (await isAnyPending(client, namespace)) await realClock.sleep(500);
}

async function isAnyPending(client: Client, namespace: string): Promise<boolean> {
  const { items } = await client.list(podResource, { namespace, fieldSelector: 'status.phase=Pending', limit: 1 });
  return items.length > 0;
}

function create(client: Client, namespace: string, prefix: string, count: number, shape: (n: number) => PodShape): Promise<void> {
  const places = Array.from({ length: count }, (_, n) => n);
  return inParallel(places, IN_FLIGHT, (n) => client.create(podResource, benchPod(namespace, `${prefix}-${n}`, n, shape(n))));
}

async function removeWarm(client: Client, namespace: string): Promise<void> {
  const { items } = await client.list(podResource, { namespace });
  const warm = items.flatMap(({ metadata: { name = '' } }) => (name.startsWith('warm-') ? [name] : []));
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  await inParallel(warm, IN_FLIGHT, (name) => client.delete(podResource, { namespace, name }, { body }));
}

const LOOK_MS = 1_000;
/** CPU time that counts as idle; allows for one garbage collection. */
const QUIET_CPU_MS = 50;
const PATIENCE_MS = 60_000;

/** Resolves once the scheduler is idle, or after a minute: with many unschedulable pods it may never be idle. */
async function settled({ usage, user }: Subject<Who>): Promise<void> {
  const from = performance.now();
  for (let before = usage().cpuMs; ;) {
    await realClock.sleep(LOOK_MS);
    const { cpuMs } = usage();
    if (cpuMs - before <= QUIET_CPU_MS) return;
    if (performance.now() - from > PATIENCE_MS) return console.error(`  ${user} is still busy after a minute`);
    before = cpuMs;
  }
}
