import assert from 'node:assert/strict';
import type { LocalApiHooks } from '../../../apiserver/local-api.ts';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import type { Clock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { Informers } from '../../../kube/cache/informers.ts';
import type { Client } from '../../../kube/client/client.ts';
import { EventSender } from '../../../kube/controller/event-recorder.ts';
import { controllerOf } from '../../../kube/controller/owners.ts';
import { runController } from '../../../kube/controller/run-controller.ts';
import { LeaderElection } from '../../../kube/election/election.ts';
import { fenced } from '../../../kube/election/fence.ts';
import { WorkQueue } from '../../../kube/queue/work-queue.ts';
import { Copies, namesOf, textOf } from './copies.ts';

export interface WorldOptions {
  clock: Clock;
  random: Random;
  /** The server that the clients speak to. */
  hooks: LocalApiHooks;
  add: (manifest: Readonly<Record<string, unknown>>) => KubeObject;
  client: () => Client;
  log?: Log;
  /** The lease outlasts whatever keeps the machine from working. @default that of every controller */
  patientLease?: boolean;
}

const patientLease = { leaseDurationMs: 90_000, renewDeadlineMs: 60_000 };

const KIND = '/configmaps';
const SETS = 8;
const MAX_COPIES = 6;

/** A controller with all it needs, its users, and a server that has bad hours. */
export class SoakWorld {
  readonly #options: WorldOptions;
  readonly #ending = new AbortController();
  readonly #queue: WorkQueue;
  readonly #informers: Informers;
  readonly #copies: Copies;
  readonly #events: EventSender;
  readonly #election: LeaderElection;
  readonly #clients: Client[];
  #running: Promise<unknown> = Promise.resolve();
  #ended = '';

  constructor(options: WorldOptions) {
    this.#options = options;
    const { clock, random, log = silentLog } = options;
    const [own, client] = [options.client(), options.client()];
    this.#clients = [own, client];
    this.#election = new LeaderElection({
      client: own,
      lease: { namespace: 'kube-system', name: 'copies' },
      identity: 'soak',
      clock,
      random,
      log,
      ...(options.patientLease === true ? patientLease : {}),
    });
    const writer = fenced(client, this.#election);
    this.#events = new EventSender({ client: writer, clock, random, log });
    this.#informers = new Informers({ client, clock, random, log, frozen: true, resyncMs: 6 * 3_600_000 });
    const fields = ['data', 'metadata.labels', 'metadata.annotations'];
    const sets = this.#informers.of<KubeObject>(configMaps, { fields }, { labelSelector: 'role=set' });
    const copies = this.#informers.of<KubeObject>(configMaps, { fields }, { labelSelector: 'role=copy' });
    this.#copies = new Copies({ client: writer, clock, sets, copies, events: this.#events.recorder('copies') });
    this.#queue = new WorkQueue('copies', { clock });
  }

  start(): void {
    const { clock, log = silentLog } = this.#options;
    const { signal } = this.#ending;
    const election = this.#election.run(signal).then((ended) => (this.#ended = ended.why));
    const caches = this.#informers.run(signal);
    const work = this.#election.whenLeading().then((leads) => {
      const options = { queue: this.#queue, workers: 3, log, clock };
      return leads ? runController(this.#copies.controller, options, signal) : undefined;
    });
    this.#running = Promise.all([election, caches, work]);
  }

  /** What users do in a while: new sets, other sizes, other texts, sets gone, copies deleted, spoiled, taken away. */
  churn(): void {
    const { random, hooks, add } = this.#options;
    const name = `set-${Math.floor(random() * SETS)}`;
    const set = hooks.storage.get(KIND, `default/${name}`);
    const data = { copies: String(Math.floor(random() * (MAX_COPIES + 1))), text: `text ${Math.floor(random() * 3)}` };
    if (set === undefined) {
      add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels: { role: 'set' } }, data });
      return;
    }
    const dice = random();
    const copy = this.#objects('copy').find(() => random() < 0.2);
    if (dice < 0.1) hooks.storage.remove(KIND, `default/${name}`);
    else if (dice < 0.5) hooks.storage.put(KIND, `default/${name}`, { ...set, data });
    else if (copy === undefined) return;
    else if (dice < 0.7) hooks.storage.remove(KIND, `default/${copy.metadata.name}`);
    else if (dice < 0.85) hooks.storage.put(KIND, `default/${copy.metadata.name}`, { ...copy, data: { text: 'spoiled' } });
    else {
      const { ownerReferences: _, ...orphan } = copy.metadata;
      hooks.storage.put(KIND, `default/${copy.metadata.name}`, { ...copy, metadata: orphan });
    }
  }

  /** A bad hour: some requests fail in some way. */
  async trouble(): Promise<void> {
    const { random, hooks } = this.#options;
    const chosen = troubles.filter(() => random() < 0.25);
    hooks.setFaults(parseFaults(chosen));
    if (random() < 0.2) hooks.compact();
    if (random() < 0.3) hooks.dropConnections();
    if (random() < 0.2) {
      await hooks.pause();
      await hooks.resume();
    }
  }

  calm(): void {
    this.#options.hooks.setFaults([]);
    this.#options.hooks.dropConnections();
  }

  /** Where the objects are not what the controller is there for. Owned copies of sets that are gone are the garbage collector's. */
  problems(): string[] {
    const problems = this.#ended === '' ? [] : [`the election ended: ${this.#ended}`];
    const sets = new Map(this.#objects('set').map((set) => [set.metadata.uid, set]));
    const owned = Map.groupBy(this.#objects('copy'), (copy) => controllerOf(copy)?.uid);
    for (const [uid, set] of sets) {
      const mine = owned.get(uid ?? '') ?? [];
      const seen = mine.map((copy) => `${copy.metadata.name}=${textOf(copy)}`).toSorted();
      const wanted = namesOf(set).map((name) => `${name}=${textOf(set)}`);
      if (seen.join() !== wanted.toSorted().join()) problems.push(`${set.metadata.name} has ${seen.join()} instead of ${wanted.join()}`);
      if (set.metadata.annotations?.['ready'] !== String(wanted.length))
        problems.push(`${set.metadata.name} says ${set.metadata.annotations?.['ready']} are ready`);
    }
    return problems;
  }

  /** Everything that must be empty once all is done. */
  get left(): Record<string, number> {
    const { length, processing, delayed, failing } = this.#queue;
    const { expectations, unseenWrites } = this.#copies;
    return {
      length,
      processing,
      delayed,
      failing,
      expectations: expectations.size,
      ownWrites: unseenWrites,
      events: this.#events.waiting,
    };
  }

  async stop(): Promise<void> {
    this.#ending.abort(new Error('the soak is over'));
    await this.#running;
    await this.#events.close(AbortSignal.abort());
    for (const client of this.#clients) await client.close();
    assert.equal(this.#ended, 'stopped');
  }

  #objects(role: string): readonly KubeObject[] {
    return this.#options.hooks.storage.list(KIND).objects.filter(({ metadata }) => metadata.labels?.['role'] === role);
  }
}

const troubles: readonly Record<string, unknown>[] = [
  { verb: 'create', resource: 'configmaps', status: 500, probability: 0.3 },
  { verb: 'create', resource: 'configmaps', status: 'half', probability: 0.2 },
  { verb: 'create', resource: 'configmaps', status: 'drop', probability: 0.2 },
  { verb: 'patch', resource: 'configmaps', status: 409, probability: 0.2 },
  { verb: 'patch', resource: 'configmaps', status: 'half', probability: 0.2 },
  { verb: 'delete', resource: 'configmaps', status: 429, probability: 0.3 },
  { verb: 'delete', resource: 'configmaps', status: 'half', probability: 0.2 },
  { verb: 'create', resource: 'events', status: 503, probability: 0.5 },
  { verb: 'watch', resource: 'configmaps', status: 'half', probability: 0.5 },
  { verb: 'watch', resource: 'configmaps', status: 'early-gone', probability: 0.1 },
  { verb: 'watch', resource: 'configmaps', status: 'duplicate', probability: 0.3 },
  { verb: 'watch', resource: 'configmaps', status: 'lag', ms: 800, probability: 0.2 },
  { verb: 'watch', resource: 'configmaps', status: 503, probability: 0.3 },
  { verb: 'list', resource: 'configmaps', status: 500, probability: 0.3 },
  { verb: 'list', resource: 'configmaps', status: 'truncate', probability: 0.3 },
  { verb: 'list', resource: 'configmaps', status: 'stale', versions: 50, probability: 0.3 },
  // One failed renewal in a row is no reason to give up a lease.
  { verb: 'update', resource: 'leases', status: 500, count: 1 },
];
