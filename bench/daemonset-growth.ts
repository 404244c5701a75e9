import { eventNames } from './daemonset/events.ts';
import type { EventName, Rate } from './daemonset/events.ts';
import { embeddedPlace } from './daemonset/embedded-place.ts';
import { addNodes } from './daemonset/fleet.ts';
import { fleetEvents, makeFleet, settleFleet } from './daemonset/fleet-turn.ts';
import { numberOf } from './daemonset/number.ts';
import { startController } from './daemonset/subject.ts';
import type { Figure } from './figure.ts';

/** Cost of one event, by kind of event: a value per round. */
export type Costs = Readonly<Record<EventName, readonly number[]>>;

const ROUNDS = 3;

/** Enough events that a tick of the CPU clock is negligible, and few enough per second that each is processed separately. */
const rateOf = (name: EventName): Rate =>
  name === 'node label of one set' ? { events: 400, perSecond: 40 } : { events: 2_000, perSecond: 200 };

/**
 * Cost of an event for our controller on a settled fleet of 10,000 nodes (DKC_NODES), compared with a tenth of that; two sets (DKC_SETS). The server is
 * the embedded one, in a separate process.
 */
export async function daemonSetGrowth(): Promise<Figure[]> {
  const large = numberOf(process.env, 'DKC_NODES', 10_000);
  const small = Math.max(1, Math.round(large / 10));
  const sets = numberOf(process.env, 'DKC_SETS', 2);
  return growthFigures({ nodes: large, costs: await costsAt(large, sets) }, { nodes: small, costs: await costsAt(small, sets) });
}

async function costsAt(count: number, sets: number): Promise<Costs> {
  console.error(`  ${count} nodes, ${sets} sets`);
  await using place = await embeddedPlace();
  const size = { nodes: await addNodes(place.client, count, count), sets, ready: false };
  await using subject = await startController('dkc', place);
  await makeFleet(place, size);
  const round = async (): Promise<Record<EventName, number>> => {
    await settleFleet(place, size);
    return fleetEvents(subject, place, size, rateOf);
  };
  console.error('  a round to warm up');
  await round();
  const rounds: Record<EventName, number>[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await round());
  return Object.fromEntries(eventNames.map((name) => [name, rounds.map((costs) => costs[name])])) as unknown as Costs;
}

function growthFigures(large: { nodes: number; costs: Costs }, small: { nodes: number; costs: Costs }): Figure[] {
  const sample = ({ nodes, costs }: typeof large, name: EventName) => ({
    name: `${nodes.toLocaleString('en')} nodes`,
    unit: 'ms',
    values: costs[name],
  });
  return eventNames.map((name) => ({
    what: `CPU per event at ${large.nodes.toLocaleString('en')} nodes: ${name}`,
    ours: sample(large, name),
    against: sample(small, name),
    reach: { atMost: 1.25 },
  }));
}
