import type { Clock, Millis } from '../../../base/clock.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { Key } from '../../../kube/cache/contract.ts';
import type { ServerFacts } from '../../fleet/server-facts.ts';
import { type Caches, versionsOf } from '../observe.ts';
import { type Executor, unlessChanged } from '../execute.ts';
import type { ConfigMap } from '../revision.ts';
import { KnownTouches } from '../touches.ts';
import { recordOf } from '../drain/record.ts';
import { nodeOf } from '../maintenance.ts';
import { isChanging, isDown, type RolloutNode, viewOf } from '../node.ts';
import { readStatus } from '../read-status.ts';
import { maxUnavailableOf } from '../rules.ts';
import type { Count, NodeConfigRollout } from '../types.ts';
import { type ClusterFacts, type ClusterTouch, inLine, Turns } from './budget.ts';
import { type ClusterRecord, newRecord, readRecord, readTouches, RECORD } from './record.ts';
import type { Meters } from '../../../kube/process/contract.ts';

/** Max nodes that one reconcile reads, as for a rollout's own nodes. */
const MAX_READS = 500;

/**
 * For any reason: the node is not Ready, cordoned, drained, on the way to any configuration, or its agent reports an error. For a rollout's own nodes this
 * equals what counts against `maxUnavailable`, except for a node whose drain failed, which has been given back.
 */
export const isUnavailable = (node: RolloutNode): boolean =>
  isDown(node) || isChanging(node) || node.error !== null || node.unhealthy || recordOf(nodeOf(node)) !== undefined;

type Read = Pick<Caches, 'rollouts' | 'nodes' | 'nodeConfigs' | 'configMaps'>;

/** The nodes of the whole cluster, and touches of all rollouts. One per process; a reconcile reads the nodes that changed since the last one. */
export class Cluster {
  readonly turns: Turns;
  readonly #budget: Count;
  readonly #namespace: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #unavailable = new Set<string>();
  readonly #read: { record: Readonly<object> | undefined; content: ClusterRecord } = { record: undefined, content: readRecord({}) };
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

  /** How many nodes were allowed to be unavailable, and were, at the last reconcile. */
  get last(): Readonly<{ most: number; unavailable: number }> {
    return this.#last;
  }

  /** Called when a node changes: in the turn in which the cache changes. */
  changed(node: string): void {
    this.#changed?.add(node);
  }

  /** The caches are older than those that the last touches were planned from, and may not show earlier touches yet. They catch up by themselves. */
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

  #failedIn(rollout: Readonly<NodeConfigRollout>): string[] {
    const { stopped, failures = [] } = readStatus(rollout);
    const names = stopped === undefined ? failures.map(({ node }) => node) : [];
    return names.filter((node) => this.#unavailable.has(node));
  }

  /** Called when the API server has accepted this data of the record. */
  wrote({ touches = '' }: Readonly<Record<string, string>>): void {
    this.#touches.wrote(readTouches(touches));
  }

  #recordIn(configMaps: Pick<Caches['configMaps'], 'get'>): ClusterRecord {
    const record = configMaps.get(`${this.#namespace}/${RECORD}`);
    if (record !== this.#read.record) Object.assign(this.#read, { record, content: readRecord(record ?? {}) });
    return this.#read.content;
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

/** Whether the node itself shows the touch: a drain by its record on the Node, an assignment by the name of the revision, which is used once. */
function isShown(node: RolloutNode, { rollout, revision, drain }: ClusterTouch): boolean {
  if ((node.wanted?.name ?? undefined) === revision) return true;
  return drain === true && recordOf(nodeOf(node))?.owner.name === rollout;
}

/** The key of own writes of the record: no rollout has this name. */
export const RECORD_KEY = '(record)';

/**
 * Writes the record of touches, before the nodes are touched.
 * @param known - the record that the plan is based on; absent: there was none
 * @param data - absent: there is no budget any more, and the record is deleted
 * @returns false: there is a newer one
 */
export async function writeRecord(
  { client, ownWrites, caches: { configMaps: cache } }: Executor,
  { namespace, known, data }: { namespace: string; known: Readonly<ConfigMap> | undefined; data: Record<string, string> | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const write = async (): Promise<true> => {
    if (known === undefined) {
      if (data !== undefined)
        ownWrites.wrote(RECORD_KEY, cache, await client.create(configMaps, newRecord(namespace, data), { signal, namespace }));
      return true;
    }
    const { uid = '', resourceVersion = '' } = known.metadata;
    if (data !== undefined) {
      const body = { metadata: { uid, resourceVersion }, data };
      ownWrites.wrote(RECORD_KEY, cache, await client.patch(configMaps, { name: RECORD, namespace }, body, { type: 'merge', signal }));
      return true;
    }
    await client.delete(configMaps, { name: RECORD, namespace }, { signal, body: { preconditions: { uid, resourceVersion } } });
    ownWrites.deleted(RECORD_KEY, cache, known);
    return true;
  };
  return (await unlessChanged(write)) === true;
}

/** @param last - as of the last reconcile */
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
