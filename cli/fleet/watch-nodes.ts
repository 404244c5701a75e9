import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { Reflector, type ReflectorOptions, type Sink } from '../../kube/cache/reflector.ts';
import { watchObject } from '../../kube/client/watch-object.ts';
import { AGENT_ANNOTATION, fleetNode, type FleetNode } from './fleet-node.ts';
import type { Watched } from './carrier.ts';
import type { Client } from '../../kube/client/client.ts';

/** Up to here each node gets a watch; past it one watch of all nodes costs the server less. */
const MAX_SINGLE_WATCHES = 20;

type OnSeen = (name: string, node: FleetNode | undefined) => void;
type Deps = Omit<ReflectorOptions, 'resource' | 'client'> & { client: Pick<Client, 'list' | 'listEach' | 'watch'> };

/** Reports nodes as they are and as they change, until the signal aborts. Failures of the server are retried. @throws what `onSeen` throws */
export async function watchNodes(deps: Deps, watched: Watched, onSeen: OnSeen, signal: AbortSignal): Promise<void> {
  const byName = 'length' in watched;
  if (byName && watched.length <= MAX_SINGLE_WATCHES) {
    const one = (name: string): Promise<void> =>
      watchObject(deps, nodes, { name }, { onSeen: ({ object }) => onSeen(name, object && fleetNode(object)) }, signal);
    await Promise.all(watched.map(one));
    return;
  }
  const names = byName ? new Set(watched) : undefined;
  const selection = byName || watched.labelSelector === undefined ? {} : { labelSelector: watched.labelSelector };
  const sink = new NodeSink((name, node) => (names?.has(name) === false ? undefined : onSeen(name, node)), names);
  await new Reflector<KubeObject>({ ...deps, resource: nodes, selection }, sink).run(signal);
}

/** Keeps of each Node what this view reads, and passes every change on. */
class NodeSink implements Sink<KubeObject> {
  readonly #onSeen: OnSeen;
  /** undefined: expected, and not seen yet. */
  #nodes: Map<string, KubeObject | undefined>;

  /** @param expected - those of them that the first list lacks are reported as gone */
  constructor(onSeen: OnSeen, expected: ReadonlySet<string> | undefined) {
    this.#onSeen = onSeen;
    this.#nodes = new Map([...(expected ?? [])].map((name) => [name, undefined]));
  }

  keep({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
    const { spec, status } = rest as { spec?: { configSource?: unknown }; status?: Readonly<Record<string, unknown>> };
    const { name, uid, resourceVersion, annotations } = metadata;
    const kept = { name, uid, resourceVersion, annotations: { [AGENT_ANNOTATION]: annotations?.[AGENT_ANNOTATION] } };
    const { config, conditions, nodeInfo } = status ?? {};
    return { apiVersion, kind, metadata: kept, spec: { configSource: spec?.configSource }, status: { config, conditions, nodeInfo } } as KubeObject; // prettier-ignore
  }

  held(name: string): KubeObject | undefined {
    return this.#nodes.get(name);
  }

  async replace(items: readonly KubeObject[]): Promise<void> {
    const gone = this.#nodes;
    this.#nodes = new Map();
    for (const item of items) {
      const name = item.metadata.name ?? '';
      gone.delete(name);
      this.#nodes.set(name, item);
      this.#onSeen(name, fleetNode(item));
    }
    for (const name of gone.keys()) this.#onSeen(name, undefined);
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): 'applied' {
    const name = object.metadata.name ?? '';
    if (type === 'DELETED') this.#nodes.delete(name);
    else this.#nodes.set(name, this.keep(object));
    this.#onSeen(name, type === 'DELETED' ? undefined : fleetNode(object));
    return 'applied';
  }

  reached(): void {}
}
