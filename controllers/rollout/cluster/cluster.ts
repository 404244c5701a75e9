import type { Clock, Millis } from '../../../base/clock.ts';
import { isOlder } from '../../../kube/cache/change.ts';
import type { Key } from '../../../kube/cache/contract.ts';
import type { ServerFacts } from '../../fleet/server-facts.ts';
import type { Caches } from '../observe.ts';
import { recordOf } from '../drain/record.ts';
import { nodeOf } from '../maintenance.ts';
import { isChanging, isDown, type RolloutNode, viewOf } from '../node.ts';
import { maxUnavailableOf } from '../rules.ts';
import type { Count, NodeConfigRollout } from '../types.ts';
import { type ClusterFacts, type ClusterTouch, inLine, Turns } from './places.ts';
import { type ClusterRecord, readRecord, readTouches, RECORD } from './record.ts';
import type { Meters } from '../../../kube/process/contract.ts';

/** Nodes that one look reads, as of one rollout's. */
const MAX_READS = 500;
/**
 * A touch that the caches do not show counts for this long after it was first seen, in ms: the record, the status and the node are each written within 30 s,
 * nodes within 20 s of each other, and a cache may be two minutes behind. It is measured by the clock that nobody sets.
 */
export const COUNTED_MS: Millis = 240_000;
/** A touch that was written down longer ago is written down again before it is done, in ms. */
const OLD_MS: Millis = 30_000;
/** A record that is ahead of the caches for longer than this is not waited for, in ms: a store that was restored from a backup counts lower. */
const MAX_BEHIND_MS: Millis = 300_000;

/**
 * Whatever made it so: it is not Ready, cordoned, drained, on the way to any configuration, or its agent reports an error. Of a rollout's own nodes it is what
 * counts against `maxUnavailable`, but for a node whose drain failed, which has been given back.
 */
export const isUnavailable = (node: RolloutNode): boolean =>
  isDown(node) || isChanging(node) || node.error !== null || node.unhealthy || recordOf(nodeOf(node)) !== undefined;

type Read = Pick<Caches, 'rollouts' | 'nodes' | 'nodeConfigs' | 'configMaps'>;

/** The nodes of the whole cluster, and touches of all rollouts. One for the process; a look reads the nodes that changed since the last one. */
export class Cluster {
  readonly turns: Turns;
  readonly #budget: Count;
  readonly #namespace: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #unavailable = new Set<string>();
  readonly #read: { record: Readonly<object> | undefined; says: ClusterRecord } = { record: undefined, says: readRecord({}) };
  #changed: Set<string> | undefined;
  /** When this process saw a touch, or the versions of a record, for the first time. */
  #seen = new Map<string, Millis>();
  /** When this process wrote a touch down. What another one wrote may lapse there earlier than here. */
  readonly #own = new Map<string, Millis>();
  #behindSince: { versions: string; at: Millis } | undefined;
  #last: { most: number; unavailable: number } = { most: 0, unavailable: 0 };

  /** @param namespace - of the record of touches */
  constructor(budget: Count, clock: Pick<Clock, 'monotonic'>, namespace: string) {
    this.#budget = budget;
    this.#namespace = namespace;
    this.#clock = clock;
    this.turns = new Turns(clock.monotonic());
  }

  /** How many nodes might be unavailable, and were, at the last look. */
  get last(): Readonly<{ most: number; unavailable: number }> {
    return this.#last;
  }

  /** A node that changed: tell it in the turn in which the cache changes. */
  changed(node: string): void {
    this.#changed?.add(node);
  }

  /** Caches that are older than those by which the last touches were decided on do not show what became of earlier ones. They catch up by themselves. */
  isBehind({ nodes, nodeConfigs, configMaps }: Read): boolean {
    const { nodesVersion = '', nodeConfigsVersion = '' } = this.#recordIn(configMaps).versions;
    const isOne = isOlder(nodes.version, nodesVersion) || isOlder(nodeConfigs.version, nodeConfigsVersion);
    const versions = `${nodesVersion} ${nodeConfigsVersion}`;
    if (this.#behindSince?.versions !== versions) this.#behindSince = { versions, at: this.#clock.monotonic() };
    return isOne && this.#clock.monotonic() - this.#behindSince.at < MAX_BEHIND_MS;
  }

  /** @returns undefined: there are more nodes to read */
  read(rollout: Key, caches: Read, serves: ServerFacts, wallClock: Millis): ClusterFacts | undefined {
    const { nodes } = caches;
    this.#changed ??= new Set(nodes.list().map(({ metadata }) => metadata.name ?? ''));
    const view = (name: string): RolloutNode | undefined => {
      const object = nodes.get(name);
      return object && viewOf(object, caches.nodeConfigs.get(name), serves);
    };
    let reads = 0;
    for (const name of this.#changed) {
      if (reads++ === MAX_READS) return undefined;
      this.#changed.delete(name);
      const node = view(name);
      if (node !== undefined && isUnavailable(node)) this.#unavailable.add(name);
      else this.#unavailable.delete(name);
    }
    const now = this.#clock.monotonic();
    const record = this.#recordIn(caches.configMaps);
    const pending = this.#pending(record.touches, view, now);
    const isUp = ({ node }: ClusterTouch): boolean => !this.#unavailable.has(node);
    const size = nodes.size;
    const most = maxUnavailableOf({ maxUnavailable: this.#budget }, size);
    const unavailable = this.#unavailable.size + [...pending.values()].filter(isUp).length;
    this.#last = { most, unavailable };
    return {
      budget: String(this.#budget),
      size,
      most,
      unavailable,
      isUnavailable: (node) => this.#unavailable.has(node),
      pending,
      isOld: (touch) => now - (this.#own.get(keyOf(touch)) ?? -Infinity) > OLD_MS,
      failedElsewhere: new Set(caches.rollouts.list().flatMap((one) => (one.metadata.name === rollout ? [] : this.#failedIn(one)))).size,
      ahead: this.turns.ahead(
        rollout,
        now,
        caches.rollouts.list().map((one) => inLine(one, wallClock)),
      ),
      recorded: this.#read.record === undefined ? undefined : record.maxUnavailable,
    };
  }

  #failedIn({ status = {} }: Readonly<NodeConfigRollout>): string[] {
    const names = status.stopped === undefined ? (status.failures ?? []).map(({ node }) => node) : [];
    return names.filter((node) => this.#unavailable.has(node));
  }

  /** The API server took these data of the record. */
  wrote({ touches = '' }: Readonly<Record<string, string>>): void {
    const now = this.#clock.monotonic();
    for (const [key, at] of this.#own) if (now - at > OLD_MS) this.#own.delete(key);
    for (const touch of readTouches(touches)) if (!this.#seen.has(keyOf(touch))) this.#own.set(keyOf(touch), now);
  }

  #recordIn(configMaps: Pick<Caches['configMaps'], 'get'>): ClusterRecord {
    const record = configMaps.get(`${this.#namespace}/${RECORD}`);
    if (record !== this.#read.record) Object.assign(this.#read, { record, says: readRecord(record ?? {}) });
    return this.#read.says;
  }

  #pending(
    touches: readonly ClusterTouch[],
    view: (name: string) => RolloutNode | undefined,
    now: Millis,
  ): ReadonlyMap<string, ClusterTouch> {
    const seen = new Map<string, Millis>();
    const pending = new Map<string, ClusterTouch>();
    for (const touch of touches) {
      const key = keyOf(touch);
      const since = this.#seen.get(key) ?? now;
      seen.set(key, since);
      const node = view(touch.node);
      if (node !== undefined && now - since < COUNTED_MS && !isShown(node, touch)) pending.set(touch.node, touch);
    }
    this.#seen = seen;
    return pending;
  }
}

const keyOf = ({ node, rollout, revision = '', at, drain }: ClusterTouch): string => [node, rollout, revision, at, drain].join(' ');

/** What it was written down for has happened: from now on the node itself shows it. A drain is its record; names of revisions are each used once. */
function isShown(node: RolloutNode, { rollout, revision, drain }: ClusterTouch): boolean {
  if ((node.wanted?.name ?? undefined) === revision) return true;
  return drain === true && recordOf(nodeOf(node))?.owner.name === rollout;
}

/** @param last - as the last look found it */
export function clusterMetrics(meters: Pick<Meters, 'gauge'>, last: () => Pick<ClusterFacts, 'most' | 'unavailable'>): void {
  const where = 'with --rollout-max-unavailable';
  meters.gauge(
    'rollout_controller_cluster_max_unavailable',
    `Number of nodes of the cluster that may be unavailable at once, ${where}`,
    () => last().most,
  );
  meters.gauge(
    'rollout_controller_cluster_unavailable',
    `Number of nodes of the cluster that are unavailable or about to be, as a rollout was looked at last, ${where}`,
    () => last().unavailable,
  );
}
