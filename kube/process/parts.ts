import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Informers } from '../cache/informers.ts';
import { createClient } from '../client/http-client.ts';
import { Outage } from '../cache/failure-log.ts';
import { EventSender } from '../controller/event-recorder.ts';
import { allMetrics, type AllMetrics } from '../metrics/all-metrics.ts';
import { type QueueMetrics, WorkQueue } from '../queue/work-queue.ts';
import { Leadership } from './leadership.ts';
import type { Clock } from '../../base/clock.ts';
import type { AccessSource } from '../client/access.ts';
import type { Dump } from '../serving/debug.ts';
import type { Client } from '../client/client.ts';
import type { RateLimits } from '../queue/rate-limit.ts';
import type { ProcessOptions, Runtime, World } from './contract.ts';

/** The parts of a process. None of them runs yet. */
export interface Parts {
  metrics: AllMetrics;
  /** The connection of caches and controllers. */
  connection: Client;
  informers: Informers;
  queues: Queues;
  events: EventSender;
  /** undefined: no election, every process may write. */
  leadership: Leadership | undefined;
  runtime: Runtime;
  /** What `--debug` shows, by name. */
  dumps: Record<string, Dump>;
}

/** Together with watches and reads below the 100 streams that newer servers allow on one connection. */
const MAX_WRITES = 80;

/** @throws {RangeError} for lease times that do not fit together */
export function makeParts(options: ProcessOptions, access: AccessSource, world: World): Parts {
  const { name, leaderElect, resyncMs = 0, pageSize = 500, writesAtOnce, events: sending = {} } = options;
  const { createClient: connect = createClient, identity = newIdentity, hostName = thisHost(), clock, random, log } = world;
  const metrics = allMetrics();
  const limits = writesAtOnce === undefined ? {} : { limits: { writing: Math.min(MAX_WRITES, writesAtOnce) } };
  const open = (): Client => connect(access, { clock, random, log, metrics: metrics.rest, userAgent: name, ...limits });
  const connection = open();
  const outage = new Outage(clock, log);
  const leadership =
    leaderElect === false
      ? undefined
      : new Leadership(leaderElect, {
          component: name,
          identity: identity(),
          client: open(),
          metrics: metrics.election,
          outage,
          clock,
          random,
          log,
        });
  const client = leadership === undefined ? connection : leadership.fence(connection);
  const events = new EventSender({ client, clock, random, log, metrics: metrics.events, ...sending });
  const informers = new Informers({
    client: connection,
    clock,
    random,
    log,
    resyncMs,
    pageSize,
    outage,
    metrics: metrics.reflector,
    ...metrics.informer,
    onIgnored: (resource, { metadata, why }) => {
      if (metadata.name === undefined) return;
      const message = `${name} failed to read this object, ignoring it: ${why}`;
      events.recorder(name).event({ metadata }, 'Warning', 'ObjectIgnored', message, { resource });
    },
  });
  const queues = new Queues(clock, metrics.queue);
  const dumps: Record<string, Dump> = { queues: queues.dump, caches: () => informers.states };
  const runtime: Runtime = {
    client,
    informers,
    events: (component, instance) => events.recorder(component, instance),
    hostName,
    queue: (queue, limits) => queues.make(queue, limits),
    meters: metrics.meters,
    dump: (name, dump) => {
      if (Object.hasOwn(dumps, name)) throw new RangeError(`there is a dump ${name} already; give this one another name`);
      dumps[name] = dump;
    },
    clock,
    random,
    log,
  };
  return { metrics, connection, informers, queues, events, leadership, runtime, dumps };
}

/** The queues of a process, each under its own name. */
class Queues {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics;
  readonly #queues = new Map<string, WorkQueue>();

  constructor(clock: Clock, metrics: QueueMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** @throws {RangeError} for a name that is taken */
  make(name: string, limits: RateLimits = {}): WorkQueue {
    if (this.#queues.has(name)) throw new RangeError(`there is a queue ${name} already; give this one another name`);
    const queue = new WorkQueue(name, { clock: this.#clock, metrics: this.#metrics, limits });
    this.#queues.set(name, queue);
    return queue;
  }

  /** Shuts down all queues, so that a queue without workers leaves no timer behind either. */
  shutDown(): void {
    for (const queue of this.#queues.values()) queue.shutDown();
  }

  readonly dump: Dump = () =>
    [...this.#queues].map(([name, { length, processing, delayed, failing }]) => ({ name, ready: length, processing, delayed, failing }));
}

/** This machine's name, from the kernel. */
const thisHost = (): string => hostname();

/** The holder identity in a lease: `hostname_uuid`, new with every call, so that a restarted process never mistakes its predecessor for itself. */
export const newIdentity = (): string => `${hostname()}_${randomUUID()}`;
