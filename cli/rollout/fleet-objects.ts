import { nodeConfigs } from '../../agent/status/node-config.ts';
import { serverFacts, type ServerFacts } from '../../controllers/fleet/server-facts.ts';
import { type NodeConfigRollout, rollouts } from '../../controllers/rollout/types.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { type KubeObject, nodes, type Resource } from '../../kube/api/object.ts';
import { Outage } from '../../kube/cache/failure-log.ts';
import { nameSelector } from '../../kube/api/selector.ts';
import { Reflector, type ReflectorOptions, type Sink } from '../../kube/cache/reflector.ts';
import { type WatchProblem, whileAllowed } from '../fleet/watch-nodes.ts';
import { type Client, listPages } from '../../kube/client/client.ts';

/** Objects for the view of a rollout. */
export interface FleetObjects {
  serves: ServerFacts;
  rollouts: ReadonlyMap<string, NodeConfigRollout>;
  nodes: ReadonlyMap<string, KubeObject>;
  nodeConfigs: ReadonlyMap<string, KubeObject>;
}

type Reader = Pick<Client, 'listEach' | 'raw'>;

/** Reads the fleet page by page. @throws ApiError, TransportError */
export async function readFleet(client: Reader, signal: AbortSignal): Promise<FleetObjects> {
  const serves = await serverFacts(client, signal);
  const all = async <T extends KubeObject>(resource: Resource, keep: (object: T) => T): Promise<Map<string, T>> => {
    const found = new Map<string, T>();
    await listPages<T>(client, resource, {}, (one) => void found.set(one.metadata.name ?? '', keep(one)), signal);
    return found;
  };
  const [ofRollouts, ofNodes, ofConfigs] = await Promise.all([
    all<NodeConfigRollout>(rollouts, (one) => one),
    all(nodes, keptOfNode),
    serves.servesNodeConfigs ? all(nodeConfigs, (one) => one) : new Map<string, KubeObject>(),
  ]);
  return { serves, rollouts: ofRollouts, nodes: ofNodes, nodeConfigs: ofConfigs };
}

/** The fields of a Node that a rollout uses. */
function keptOfNode({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels, annotations } = metadata;
  const spec = isJsonObject(rest['spec']) ? rest['spec'] : {};
  const status = isJsonObject(rest['status']) ? rest['status'] : {};
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels, annotations },
    spec: { configSource: spec['configSource'], unschedulable: spec['unschedulable'] },
    status: { config: status['config'], conditions: status['conditions'], nodeInfo: status['nodeInfo'] },
  } as KubeObject;
}

type Deps = Omit<ReflectorOptions, 'resource' | 'client' | 'selection'> & { client: Pick<Client, 'listEach' | 'raw' | 'watch'> };

/** Called before the first report, with a function that returns the current problem of the watches. */
type OnStart = (problem: WatchProblem) => void;

/**
 * Reports one rollout and its changes (undefined: it was deleted) until the signal aborts. Failures of the server are logged and retried.
 * @throws ActionError, see {@link whileAllowed}
 */
export async function watchRollout(
  deps: Deps,
  name: string,
  onSeen: (rollout: NodeConfigRollout | undefined) => void,
  signal: AbortSignal,
  onStart: OnStart,
): Promise<void> {
  const sink = new MapSink<NodeConfigRollout>(
    (one) => one,
    () => onSeen(sink.objects.get(name)),
  );
  const selection = { fieldSelector: nameSelector(name) };
  const allowed = whileAllowed(deps.client, signal);
  const options = { ...deps, client: allowed.client, newest: true, resource: rollouts, selection };
  const reflector = new Reflector<NodeConfigRollout>(options, sink);
  onStart(() => reflector.problem);
  await allowed.run([reflector]);
}

/** Keeps the fleet's objects in sync with the server until the signal aborts. @param onChange - called for each change, once all kinds are synced */
export async function watchFleetObjects(
  deps: Deps,
  onChange: (fleet: FleetObjects) => void,
  signal: AbortSignal,
  onStart: OnStart,
): Promise<void> {
  const serves = await serverFacts(deps.client, signal);
  const changed = (): void => {
    if (sinks.every(({ isComplete }) => isComplete)) onChange(fleet);
  };
  const ofRollouts = new MapSink<NodeConfigRollout>((one) => one, changed);
  const ofNodes = new MapSink(keptOfNode, changed);
  const ofConfigs = new MapSink((one) => one, changed);
  const sinks: readonly { isComplete: boolean }[] = serves.servesNodeConfigs ? [ofRollouts, ofNodes, ofConfigs] : [ofRollouts, ofNodes];
  const fleet: FleetObjects = { serves, rollouts: ofRollouts.objects, nodes: ofNodes.objects, nodeConfigs: ofConfigs.objects };
  const outage = new Outage(deps.clock, deps.log, '');
  const allowed = whileAllowed(deps.client, signal);
  const of = <T extends KubeObject>(resource: Resource, sink: Sink<T>) =>
    new Reflector<T>({ ...deps, client: allowed.client, outage, newest: true, resource }, sink);
  const ofRollout = of(rollouts, ofRollouts);
  const all = [ofRollout, of(nodes, ofNodes), ...(serves.servesNodeConfigs ? [of(nodeConfigs, ofConfigs)] : [])];
  onStart(() => ofRollout.problem ?? all.find(({ problem }) => problem !== undefined)?.problem);
  await allowed.run(all);
}

/** Objects of one cluster-scoped kind, by name. */
class MapSink<T extends KubeObject> implements Sink<T> {
  readonly objects = new Map<string, T>();
  isComplete = false;
  readonly #keep: (object: T) => T;
  readonly #changed: () => void;

  constructor(keep: (object: T) => T, changed: () => void) {
    this.#keep = keep;
    this.#changed = changed;
  }

  keep(object: T): T {
    return this.#keep(object);
  }

  held(name: string): T | undefined {
    return this.objects.get(name);
  }

  async replace(items: readonly T[]): Promise<void> {
    this.objects.clear();
    for (const item of items) this.objects.set(item.metadata.name ?? '', item);
    this.isComplete = true;
    this.#changed();
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): 'applied' {
    const name = object.metadata.name ?? '';
    if (type === 'DELETED') this.objects.delete(name);
    else this.objects.set(name, this.#keep(object));
    this.#changed();
    return 'applied';
  }

  reached(): void {}
}
