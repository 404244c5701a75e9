import type { Clock, Millis } from '../../../base/clock.ts';
import type { Key } from '../../../kube/cache/contract.ts';
import type { ServerFacts } from '../../fleet/server-facts.ts';
import { type Caches, versionsOf } from '../observe.ts';
import { KnownTouches } from '../touches.ts';
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
 * For whatever reason: it is not Ready, cordoned, drained, on the way to any configuration, or its agent reports an error. Of a rollout's own nodes it is what
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
  readonly #touches: KnownTouches;
  #last: { most: number; unavailable: number } = { most: 0, unavailable: 0 };

  /** @param namespace - of the record of touches */
  constructor(budget: Count, clock: Pick<Clock, 'monotonic'>, namespace: string) {
    this.#budget = budget;
    this.#namespace = namespace;
    this.#clock = clock;
    this.#touches = new KnownTouches(clock);
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
    const writtenAt = configMaps.get(`${this.#namespace}/${RECORD}`)?.metadata.resourceVersion;
    return this.#touches.isBehind(this.#recordIn(configMaps).versions, versionsOf({ nodes, nodeConfigs }), writtenAt);
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
    const pending = this.#pending(record.touches, view);
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
      isOld: (touch) => this.#touches.isOld(touch),
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
    this.#touches.wrote(readTouches(touches));
  }

  #recordIn(configMaps: Pick<Caches['configMaps'], 'get'>): ClusterRecord {
    const record = configMaps.get(`${this.#namespace}/${RECORD}`);
    if (record !== this.#read.record) Object.assign(this.#read, { record, says: readRecord(record ?? {}) });
    return this.#read.says;
  }

  #pending(touches: readonly ClusterTouch[], view: (name: string) => RolloutNode | undefined): ReadonlyMap<string, ClusterTouch> {
    this.#touches.see(touches);
    const pending = new Map<string, ClusterTouch>();
    for (const touch of touches) {
      const node = view(touch.node);
      if (node !== undefined && this.#touches.mayArrive(touch) && !isShown(node, touch)) pending.set(touch.node, touch);
    }
    return pending;
  }
}

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
    `Number of nodes of the cluster that are unavailable or about to be, when a rollout was last synced, ${where}`,
    () => last().unavailable,
  );
}
