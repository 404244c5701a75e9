import { realClock, rfc3339 } from '../../base/clock.ts';
import { nodes, pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { perEventMs, stretch } from './cost.ts';
import type { Stretch } from './cost.ts';
import { labels, paced, runningStatus } from './fleet.ts';
import type { Usage } from './proc.ts';
import type { Subject } from '../subject.ts';
import type { User } from './site.ts';

/** A settled fleet: the controller has nothing to do. */
export interface Settled {
  client: Client;
  namespace: string;
  nodes: readonly string[];
  /** Names of ready pods. */
  pods: readonly string[];
}

export const eventNames = ['node heartbeat', 'node label of no set', 'pod status', 'node label of one set'] as const;
export type EventName = (typeof eventNames)[number];

export interface Rate {
  events: number;
  perSecond: number;
}

type Act = (settled: Settled, n: number) => Promise<unknown>;

const merge = { type: 'merge' } as const;
const nameAt = (names: readonly string[], n: number): string => names[n % names.length] ?? '';

const acts: Record<EventName, Act> = {
  'node heartbeat': ({ client, nodes: names }, n) => {
    const condition = { type: 'Ready', lastHeartbeatTime: rfc3339(realClock.now() + n * 1_000) };
    const change = { status: { conditions: [condition] } };
    return client.patch(nodes, { name: nameAt(names, n) }, change, { type: 'strategic', subresource: 'status' });
  },
  'node label of no set': ({ client, nodes: names }, n) => {
    // A new value: otherwise there is no event.
    const labels = { 'bench.dkc.dev/other': `${n}-${Math.round(realClock.monotonic())}` };
    return client.patch(nodes, { name: nameAt(names, n) }, { metadata: { labels } }, merge);
  },
  // The pod of the node is deleted, and created again with the next change of this node.
  'node label of one set': ({ client, nodes: names }, n) => {
    const name = nameAt(names, n >> 1);
    return client.patch(nodes, { name }, { metadata: { labels: { [labels.some]: n % 2 === 0 ? null : 'true' } } }, merge);
  },
  // Ten pods become unready, then ready again, then the next ten: at any time only few are unready.
  'pod status': ({ client, namespace, pods: names }, n) => {
    const name = nameAt(names, Math.floor(n / 20) * 10 + (n % 10));
    return client.patch(pods, { name, namespace }, runningStatus(n % 20 >= 10), { ...merge, subresource: 'status' });
  },
};

const IDLE_MS = 10_000;

/** CPU time of the subject per event of each kind, in ms. */
export async function eventCosts(
  subject: Subject<User>,
  settled: Settled,
  rateOf: (name: EventName) => Rate,
): Promise<Record<EventName, number>> {
  await quiet(subject);
  const idle = await during(subject, () => realClock.sleep(IDLE_MS));
  const costs: Partial<Record<EventName, number>> = {};
  for (const name of eventNames) {
    const { events, perSecond } = rateOf(name);
    const busy = await during(subject, async () => {
      await paced(events, perSecond, (n) => acts[name](settled, n));
      await quiet(subject);
    });
    costs[name] = perEventMs(events, busy, idle);
    console.error(
      `  ${subject.user}, ${name}: ${costs[name].toFixed(3)} ms each of ${events} (idle: ${(idle.cpuMs / idle.wallMs).toFixed(4)})`,
    );
  }
  return costs as Record<EventName, number>;
}

async function during(subject: Subject<User>, work: () => Promise<void>): Promise<Stretch> {
  const reading = (): { usage: Usage; atMs: number } => ({ usage: subject.usage(), atMs: performance.now() });
  const from = reading();
  await work();
  return stretch(from, reading());
}

const LOOK_MS = 1_000;
/** CPU time that counts as idle; allows for one garbage collection. */
const QUIET_CPU_MS = 50;
const PATIENCE_MS = 120_000;

/** Resolves once the subject is idle. @throws if it is busy for two minutes */
export async function quiet({ usage, user }: Subject<User>): Promise<void> {
  const from = performance.now();
  for (let before = usage().cpuMs; ;) {
    await realClock.sleep(LOOK_MS);
    const { cpuMs } = usage();
    if (cpuMs - before <= QUIET_CPU_MS) return;
    if (performance.now() - from > PATIENCE_MS) throw new Error(`${user} is busy for two minutes after the last change`);
    before = cpuMs;
  }
}
