import { nodeConfigs, type NodeConfig } from '../../../agent/status/node-config.ts';
import { sameSpec } from '../../../controllers/fleet/fleet-node.ts';
import { fleetNode } from '../../../controllers/fleet/read-fleet-node.ts';
import { isJsonObject } from '../../../kube/api/json.ts';
import { nodes, resourceName, type KubeObject } from '../../../kube/api/object.ts';
import type { Change } from '../../../apiserver/storage/watch-log.ts';

/** Maximum number of nodes at once, so far. */
export interface Peaks {
  /** Assigned a configuration that is not trusted on them yet, or that failed there. */
  inFlight: number;
  cordoned: number;
  notReady: number;
  /** In any of the states above. */
  unavailable: number;
}

interface Seen {
  /** Name of the assigned ConfigMap; undefined: local. */
  wanted: string | undefined;
  inFlight: boolean;
  cordoned: boolean;
  notReady: boolean;
  /** The Node carries its assignment. */
  onNode?: boolean;
}

const NODES = `/${resourceName(nodes)}`;
const NODE_CONFIGS = `${nodeConfigs.group}/${nodeConfigs.resource}`;

/**
 * History of a fleet, from all writes to the API server, in order: how many nodes were unavailable at once, and which ConfigMaps were ever
 * assigned to which nodes. It relies on reports of agents and kubelets only, not on the controller.
 */
export class FleetRecord {
  readonly peaks: Peaks = { inFlight: 0, cordoned: 0, notReady: 0, unavailable: 0 };
  /** Nodes that a ConfigMap was ever assigned to, by its name. */
  readonly touched = new Map<string, Set<string>>();
  /** Called whenever a ConfigMap is assigned to a node. @param count - distinct nodes so far */
  onTouched: (configMap: string, count: number) => void = () => {};
  readonly #seen = new Map<string, Seen>();
  readonly #now = { inFlight: 0, cordoned: 0, notReady: 0, unavailable: 0 };

  /** For `Storage.onChange`. @param kind - `GROUP/RESOURCE` */
  see(kind: string, { key, object, type }: Pick<Change, 'key' | 'object' | 'type'>): void {
    if (kind !== NODES && kind !== NODE_CONFIGS) return;
    const before = this.#seen.get(key) ?? { wanted: undefined, inFlight: false, cordoned: false, notReady: false };
    const after =
      type === 'DELETED'
        ? withoutObject(before, kind)
        : kind === NODES
          ? { ...before, ...ofNode(object), ...ofConfigSource(object, before) }
          : { ...before, ...ofNodeConfig(object) };
    this.#seen.set(key, after);
    this.#count(before, -1);
    this.#count(after, 1);
    if (after.wanted !== undefined && after.wanted !== before.wanted) this.#touch(after.wanted, key);
  }

  /** Nodes that are assigned this ConfigMap now. */
  assigned(configMap: string): number {
    return [...this.#seen.values()].filter(({ wanted }) => wanted === configMap).length;
  }

  /** Resets the peaks. */
  resetPeaks(): void {
    Object.assign(this.peaks, this.#now);
  }

  #touch(configMap: string, node: string): void {
    const known = this.touched.get(configMap) ?? new Set<string>();
    this.touched.set(configMap, known.add(node));
    this.onTouched(configMap, known.size);
  }

  #count({ inFlight, cordoned, notReady }: Seen, by: 1 | -1): void {
    const now = this.#now;
    if (inFlight) now.inFlight += by;
    if (cordoned) now.cordoned += by;
    if (notReady) now.notReady += by;
    if (inFlight || cordoned || notReady) now.unavailable += by;
    if (by < 0) return;
    for (const what of ['inFlight', 'cordoned', 'notReady', 'unavailable'] as const)
      this.peaks[what] = Math.max(this.peaks[what], now[what]);
  }
}

function withoutObject(before: Seen, kind: string): Seen {
  return kind === NODES ? { ...before, cordoned: false, notReady: false } : { ...before, wanted: undefined, inFlight: false };
}

function ofNode({ spec, status }: KubeObject): Pick<Seen, 'cordoned' | 'notReady'> {
  const conditions: unknown = isJsonObject(status) ? status['conditions'] : undefined;
  const ready: unknown = Array.isArray(conditions)
    ? conditions.find((one: unknown) => isJsonObject(one) && one['type'] === 'Ready')
    : undefined;
  return {
    cordoned: isJsonObject(spec) && spec['unschedulable'] === true,
    notReady: !(isJsonObject(ready) && ready['status'] === 'True'),
  };
}

/** Where the Node itself carries the assignment. */
function ofConfigSource(object: KubeObject, before: Seen): Partial<Pick<Seen, 'wanted' | 'inFlight' | 'onNode'>> {
  const { spec } = object;
  if (!isJsonObject(spec) || !isJsonObject(spec['configSource']))
    return before.onNode === true ? { wanted: undefined, inFlight: false } : {};
  const { wanted, assigned, active, error, agent } = fleetNode(object);
  const isProved = sameSpec(wanted, assigned) && sameSpec(wanted, active) && error === null && !agent?.trial;
  return { onNode: true, wanted: wanted?.name, inFlight: !isProved };
}

function ofNodeConfig({ metadata, spec, status }: NodeConfig): Pick<Seen, 'wanted' | 'inFlight'> {
  const configMap = spec?.configMap;
  const wanted = isJsonObject(configMap) && typeof configMap['name'] === 'string' ? configMap['name'] : undefined;
  const named = (of: 'assigned' | 'active'): string | undefined => status?.[of]?.configMap?.name;
  // A NodeConfig that was just created for its first assignment has no status yet.
  const isReported = status?.observedGeneration === metadata.generation;
  const isProved = isReported && named('assigned') === wanted && named('active') === wanted && !status?.error && !status?.trial;
  return { wanted, inFlight: !isProved };
}
