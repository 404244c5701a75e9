import { pods } from '../kube/api/object.ts';
import type { Client } from '../kube/client/client.ts';
import { startHollow } from '../test/support/hollow/start-hollow.ts';
import { RealPartsUnavailable } from '../test/support/real-parts/real-kubelet.ts';
import { writesOf } from './daemonset/calls.ts';
import { eventNames } from './daemonset/events.ts';
import type { EventName, Rate } from './daemonset/events.ts';
import { addNodes, inParallel, removePods } from './daemonset/fleet.ts';
import { fleetEvents, makeFleet, settleFleet } from './daemonset/fleet-turn.ts';
import { numberOf } from './daemonset/number.ts';
import type { Usage } from './daemonset/proc.ts';
import { benchSite } from './daemonset/site.ts';
import type { User } from './daemonset/site.ts';
import { startController } from './daemonset/subject.ts';
import { measured } from './daemonset/turn.ts';
import type { Part } from './daemonset/turn.ts';
import type { Figure } from './figure.ts';

interface FleetTurn {
  user: User;
  create: Part;
  /** Costs while all pods become ready, one by one. */
  ready: Part;
  /** Usage at the end. */
  usage: Usage;
  costs: Record<EventName, number>;
}

interface Size {
  nodes: number;
  sets: number;
  hollow: boolean;
}

const rateOf = (name: EventName): Rate =>
  name === 'node label of one set' ? { events: 200, perSecond: 10 } : { events: 2_000, perSecond: 100 };

/**
 * Twenty sets (DKC_SETS) on 5,000 nodes (DKC_NODES), by our controller and by kube-controller-manager, each on a separate control plane that begins
 * empty; then single events on the settled fleet. Without DKC_HOLLOW=1 no scheduler binds the pods; the benchmark makes them ready once all exist.
 * Runs only if named.
 */
export async function daemonSetFleet(): Promise<Figure[] | string> {
  const size = {
    nodes: numberOf(process.env, 'DKC_NODES', 5_000),
    sets: numberOf(process.env, 'DKC_SETS', 20),
    hollow: process.env['DKC_HOLLOW'] === '1',
  };
  try {
    const turns: FleetTurn[] = [];
    for (const user of ['dkc', 'kube-controller-manager'] as const) turns.push(await fleetTurn(user, size));
    return fleetFigures(turns, size);
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
}

async function fleetTurn(user: User, { nodes, sets, hollow }: Size): Promise<FleetTurn> {
  console.error(`  ${user}: ${nodes} nodes, ${sets} sets`);
  await using site = await benchSite();
  await sayPace(site.client);
  const names = await addNodes(site.client, nodes, nodes);
  await using undo = new AsyncDisposableStack();
  if (hollow) undo.use(await startHollow({ kubeconfig: await site.kubeconfig(), binds: true }));
  const subject = undo.use(await startController(user, site));
  const size = { nodes: names, sets, ready: hollow };
  const create = await measured(subject, site, () => makeFleet(site, size));
  const { calls, doneMs, cpuMs } = create;
  const made = subject.usage();
  console.error(`  ${user}: ${(doneMs / 1_000).toFixed(1)} s, CPU ${cpuMs} ms, ${made.rssMb.toFixed(0)} MB, ${writesOf(calls)} writes`);
  const ready = await measured(subject, site, () => settleFleet(site, size));
  console.error(`  ${user}: all ready, CPU ${ready.cpuMs} ms, ${writesOf(ready.calls)} writes`);
  return { user, create, ready, costs: await fleetEvents(subject, site, size, rateOf), usage: subject.usage() };
}

/** Prints the maximum throughput of the API server, which limits all figures of time. */
async function sayPace(client: Client): Promise<void> {
  const count = 2_000;
  const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'a', image: 'a' }] } };
  const from = performance.now();
  const names = Array.from({ length: count }, (_, n) => `pace-${n}`);
  await inParallel(names, 64, (name) => client.create(pods, { ...pod, metadata: { name, namespace: 'default' } }));
  console.error(`  the API server makes ${((count / (performance.now() - from)) * 1_000).toFixed(0)} pods a second`);
  await removePods(client, 'default');
}

function fleetFigures(turns: readonly FleetTurn[], { nodes, sets, hollow }: Size): Figure[] {
  const all = nodes * sets;
  const fleet = `${nodes.toLocaleString('en')} nodes, ${sets} sets${hollow ? '' : ', no kubelets'}`;
  const figure = (what: string, unit: string, valueOf: (turn: FleetTurn) => number): Figure => {
    const sample = (name: User) => ({ name, unit, values: turns.filter(({ user }) => user === name).map(valueOf) });
    return { what: `${fleet}: ${what}`, ours: sample('dkc'), against: sample('kube-controller-manager'), reach: { atMost: 1 } };
  };
  return [
    figure(`until ${all.toLocaleString('en')} pods are there`, 's', ({ create }) => create.doneMs / 1_000),
    figure('CPU for that', 's', ({ create }) => create.cpuMs / 1_000),
    figure('writes per pod for that', 'calls', ({ create }) => writesOf(create.calls) / all),
    figure('CPU while all become ready', 's', ({ ready }) => ready.cpuMs / 1_000),
    figure('memory, the most there was', 'MB', ({ usage }) => usage.peakMb),
    figure('memory at the end', 'MB', ({ usage }) => usage.rssMb),
    ...eventNames.map((name) => figure(`CPU per event, ${name}`, 'ms', ({ costs }) => costs[name])),
  ];
}
