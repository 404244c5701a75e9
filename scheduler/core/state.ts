import type { Millis } from '../../base/clock.ts';
import { seededRandom, type Random } from '../../base/random.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import { Cluster } from '../cache/cluster.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { Engine } from '../engine/engine.ts';
import { isIgnored } from '../plugins/node-resources-fit.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { SchedulingQueue } from '../queue/contract.ts';
import { createHints } from '../queue/hints.ts';
import { Nominator } from '../queue/nominator.ts';
import { createQueue } from '../queue/queue.ts';
import type { Reservations } from '../reservation/contract.ts';
import { createReservations } from '../reservation/reservations.ts';
import { CachedStorage } from '../volumes/view.ts';
import type { Budget } from '../types.ts';
import type { Caches } from '../informers.ts';
import { ClaimUsers } from '../volumes/claim-users.ts';
import { podClassKey } from '../queue/pod-class-key.ts';
import { Siblings } from '../engine/default-spread-selectors.ts';
import { VolumeWork } from '../volumes/volume-work.ts';

/** What the scheduler knows and decides with. All of it is synchronous and without side effects outside. */
export interface Parts {
  readonly config: SchedulerConfig;
  readonly caches: Caches;
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly nominator: Nominator;
  readonly reservations: Reservations;
  readonly engine: Engine;
  readonly siblings: Siblings;
  readonly volumes: VolumeWork;
  readonly claimUsers: ClaimUsers;
  /** Uids of pods that have to go for others: their room is for those. */
  readonly victims: Set<string>;
  readonly random: Random;
  /** The wall clock as it was when this was made, and from then on in step with the monotonic one: somebody who sets the clock changes no deadline. */
  readonly now: () => Millis;
  /** What the wall clock shows at a moment of {@link now}: for people, and for other processes. */
  readonly shown: (at: Millis) => Millis;
  /** Undefined: the pod is somebody else's. */
  readonly profileOf: (pod: PodInfo) => ProfileConfig | undefined;
  readonly budgets: () => readonly Readonly<Budget>[];
  /** The newest that is known of a pod. */
  readonly latest: (key: Key) => PodInfo | undefined;
}

/** @param latest - the newest that the caches know of a pod */
export function makeParts(
  caches: Caches,
  config: SchedulerConfig,
  { clock, random: chance }: Pick<Runtime, 'clock' | 'random'>,
  latest: Parts['latest'],
): Parts {
  const { profiles, reservation, compat } = config;
  const zero = clock.now() - clock.monotonic();
  const now = (): Millis => zero + clock.monotonic();
  const shown = (at: Millis): Millis => Math.round(at + clock.now() - now());
  const random = compat.seed === undefined ? chance : seededRandom(compat.seed);
  const isOurs = (schedulerName: string): boolean => profiles.has(schedulerName);
  const namespaceLabels = (name: string): Readonly<Record<string, string>> | undefined => caches.namespaces.get(name)?.metadata.labels;
  const cluster = new Cluster(namespaceLabels);
  const reservations = createReservations(reservation, isOurs);
  const nominator = new Nominator();
  const claimUsers = new ClaimUsers();
  const siblings = new Siblings({
    services: (namespace) => caches.services.list(namespace),
    replicationController: (key) => caches.replicationControllers.get(key),
    replicaSet: (key) => caches.replicaSets.get(key),
    statefulSet: (key) => caches.statefulSets.get(key),
  });
  const view = new CachedStorage(caches.storage, (namespace, claim) => claimUsers.of(namespace, claim));
  const volumes = new VolumeWork(view, reservations);
  const engine = new Engine({
    cluster,
    random,
    compat,
    siblingsOf: siblings.of,
    volumes,
    promises: {
      get nodes() {
        return promisedNodes(nominator, reservations);
      },
      on: (node, pod) => promisedOn(nominator, reservations, node, pod),
    },
  });
  const profileOf = ({ schedulerName }: PodInfo): ProfileConfig | undefined => profiles.get(schedulerName);
  const hints = createHints({
    namespaceLabels,
    addedAffinity: (name) => profiles.get(name)?.nodeAffinity.addedAffinity,
    ignores: (name, resource) => {
      const profile = profiles.get(name);
      return profile !== undefined && isIgnored(profile.fit, resource);
    },
  });
  const queue = createQueue({
    now,
    initialBackoffMs: config.initialBackoffMs,
    maxBackoffMs: config.maxBackoffMs,
    flushMs: config.unschedulableFlushMs,
    hints,
    favoured: (info) => reservation.upgradeFirst && reservations.of(info) !== undefined,
    classOf: podClassKey,
  });
  return {
    config,
    caches,
    cluster,
    queue,
    nominator,
    reservations,
    engine,
    siblings,
    volumes,
    claimUsers,
    victims: new Set(),
    random,
    now,
    shown,
    profileOf,
    budgets: () => caches.budgets?.list() ?? [],
    latest,
  };
}

function promisedNodes(nominator: Nominator, reservations: Reservations): Iterable<string> {
  if (reservations.size === 0) return nominator.nodes;
  if (nominator.size === 0) return reservations.nodes;
  return new Set([...nominator.nodes, ...reservations.nodes]);
}

/** Who has at least this pod's priority and is promised the node, and whose room is kept there. */
function promisedOn(nominator: Nominator, reservations: Reservations, node: string, pod: PodInfo): readonly PodInfo[] {
  const ghosts = reservations.ghostsFor(pod, node);
  const nominated = nominator.on(node);
  if (nominated.length === 0) return ghosts;
  const before = nominated.filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
  return ghosts.length === 0 ? before : [...before, ...ghosts];
}
