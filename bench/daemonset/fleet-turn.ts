import { realClock } from '../../base/clock.ts';
import { daemonSets, pods } from '../../kube/api/object.ts';
import { eventCosts, quiet } from './events.ts';
import type { EventName, Rate } from './events.ts';
import { addNamespace, daemonSet, inParallel, labels, makeReady, whenDone } from './fleet.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Place, User } from './site.ts';
import type { Subject } from '../subject.ts';

export interface FleetSize {
  nodes: readonly string[];
  sets: number;
  /** Kubelets and a binder run, so that pods become ready. */
  ready: boolean;
}

const NAMESPACE = 'fleet';
const nameOf = (n: number): string => `set-${n}`;

/** Creates all sets at once, in one namespace like kube-system; the first is for the nodes with the label `some`. Resolves when all pods exist. */
export async function makeFleet({ client }: Place, { nodes, sets, ready }: FleetSize): Promise<void> {
  await addNamespace(client, NAMESPACE);
  const names = Array.from({ length: sets }, (_, n) => nameOf(n));
  await inParallel(names, sets, (name, n) => client.create(daemonSets, daemonSet(NAMESPACE, name, n === 0 ? labels.some : labels.all)));
  await allDone(client, { nodes, sets, ready });
}

/** Makes all pods ready. Resolves when the status of all sets reports it. @throws if there are more or fewer pods than expected */
export async function settleFleet({ client }: Place, size: FleetSize): Promise<void> {
  const [found, wanted] = [await makeReady(client, NAMESPACE), size.nodes.length * size.sets];
  if (found !== wanted) throw new Error(`there are ${found} pods instead of ${wanted}`);
  await allDone(client, { ...size, ready: true });
}

async function allDone(client: Client, { nodes, sets, ready }: FleetSize): Promise<void> {
  let left = sets;
  const from = realClock.monotonic();
  const names = Array.from({ length: sets }, (_, n) => nameOf(n));
  await inParallel(names, sets, async (name) => {
    await whenDone(client, { namespace: NAMESPACE, name, nodes: nodes.length, ready });
    left--;
    console.error(`  ${name} is done after ${((realClock.monotonic() - from) / 1_000).toFixed(1)} s, ${left} are left`);
  });
}

/** Costs of events on a settled fleet. */
export async function fleetEvents(
  subject: Subject<User>,
  { client }: Place,
  { nodes, sets }: FleetSize,
  rateOf: (name: EventName) => Rate,
): Promise<Record<EventName, number>> {
  // Half as many as events: each becomes unready and ready again.
  const limit = Math.min(rateOf('pod status').events / 2, nodes.length);
  const { items } = await client.list(pods, { namespace: NAMESPACE, labelSelector: `app=${nameOf(sets - 1)}`, limit });
  const names = items.map(({ metadata }) => metadata.name ?? '');
  await quiet(subject);
  return eventCosts(subject, { client, namespace: NAMESPACE, nodes, pods: names }, rateOf);
}
