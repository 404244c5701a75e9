import { nodeConfigs } from '../../agent/status/node-config.ts';
import { ActionError } from '../../base/errors.ts';
import { nodes, type KubeObject, type Resource, resourceName } from '../../kube/api/object.ts';
import { Outage, type Problem } from '../../kube/cache/failure-log.ts';
import { Reflector, type ReflectorOptions, type Selection, type Sink } from '../../kube/cache/reflector.ts';
import { nameSelector } from '../../kube/api/selector.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import { fleetNode, keptOfConfig, keptOfNode } from '../../controllers/fleet/read-fleet-node.ts';
import type { Watched } from './carrier.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { ServerFacts } from '../../controllers/fleet/server-facts.ts';
import type { Client } from '../../kube/client/client.ts';

/** Up to this many nodes each node has separate watches; for more, one watch of all objects costs the server less. */
const MAX_SINGLE_WATCHES = 20;

type OnSeen = (name: string, node: FleetNode | undefined) => void;
type Deps = Omit<ReflectorOptions, 'resource' | 'client' | 'selection'> & { client: Pick<Client, 'listEach' | 'watch'> };
type Serves = Pick<ServerFacts, 'servesNodeConfigs' | 'hasConfigSource'>;

/** The current problem of a watch, which makes reported states outdated; undefined: no problem. */
export type WatchProblem = () => Problem | undefined;

/**
 * Reports nodes and their changes until the signal aborts. Failures of the server are logged and retried.
 * @param onStart - called before the first report, with a function that returns the current problem of the watches
 * @throws what `onSeen` throws; ActionError, see {@link whileAllowed}
 */
export async function watchNodes(
  deps: Deps,
  serves: Serves,
  watched: Watched,
  onSeen: OnSeen,
  signal: AbortSignal,
  onStart: (problem: WatchProblem) => void = () => {},
): Promise<void> {
  const outage = new Outage(deps.clock, deps.log, '');
  const reflectors: Reflector<KubeObject>[] = [];
  const allowed = whileAllowed(deps.client, signal);
  const reflect = (join: FleetJoin, kind: JoinedKind, selection: Selection): void => {
    const options = { ...deps, client: allowed.client, outage, newest: true, resource: resources[kind], selection };
    reflectors.push(new Reflector<KubeObject>(options, new JoinSink(join, kind)));
  };
  const byName = 'length' in watched;
  if (byName && watched.length <= MAX_SINGLE_WATCHES)
    for (const name of watched) {
      const join = new FleetJoin(serves, new Set([name]), onSeen);
      const selection = { fieldSelector: nameSelector(name) };
      for (const kind of kindsOf(serves)) reflect(join, kind, selection);
    }
  else {
    const join = new FleetJoin(serves, byName ? new Set(watched) : undefined, onSeen);
    const ofNodes = byName || watched.labelSelector === undefined ? {} : { labelSelector: watched.labelSelector };
    for (const kind of kindsOf(serves)) reflect(join, kind, kind === 'node' ? ofNodes : {});
  }
  onStart(() => worst(reflectors.flatMap(({ problem }) => (problem === undefined ? [] : [problem]))));
  await allowed.run(reflectors);
}

type Watching = Pick<Client, 'listEach' | 'watch'>;

/**
 * Runs watches until the signal aborts, or until the server forbids to list or watch a kind of which nothing was read yet: the command then fails
 * instead of waiting for the right forever. A right that is revoked later may be granted again, so the watch is retried.
 */
export function whileAllowed(
  client: Watching,
  signal: AbortSignal,
): { client: Watching; /** @throws ActionError */ run: (reflectors: readonly Pick<Reflector<KubeObject>, 'run'>[]) => Promise<void> } {
  const refused = new AbortController();
  const read = new Set<string>();
  const failed = (resource: Resource, error: unknown): never => {
    const name = resourceName(resource);
    if (isForbidden(error) && !read.has(resource.resource))
      refused.abort(new ActionError('watch', name, { hint: `the verbs list and watch on ${name} are needed`, cause: error }));
    throw error;
  };
  return {
    client: {
      async listEach(resource, ...rest) {
        const list = await client.listEach(resource, ...rest).catch((error: unknown) => failed(resource, error));
        read.add(resource.resource);
        return list;
      },
      async *watch(resource, ...rest) {
        try {
          for await (const event of client.watch(resource, ...rest)) {
            read.add(resource.resource);
            yield event as never;
          }
        } catch (error) {
          failed(resource, error);
        }
      },
    },
    async run(reflectors) {
      const both = AbortSignal.any([signal, refused.signal]);
      await Promise.all(reflectors.map((one) => one.run(both)));
      refused.signal.throwIfAborted();
    },
  };
}

const worst = (problems: readonly Problem[]): Problem | undefined => problems.toSorted((a, b) => b.forMs - a.forMs)[0];

type JoinedKind = 'node' | 'config';
const resources: Readonly<Record<JoinedKind, Resource>> = { node: nodes, config: nodeConfigs };
const kindsOf = ({ servesNodeConfigs }: Serves): JoinedKind[] => (servesNodeConfigs ? ['node', 'config'] : ['node']);
const kept = { node: keptOfNode, config: keptOfConfig } as const;

/** Joins Nodes and NodeConfigs by name. Once both kinds are synced, reports a node whenever its Node or NodeConfig changes. */
class FleetJoin {
  readonly #serves: Serves;
  readonly #names: ReadonlySet<string> | undefined;
  readonly #onSeen: OnSeen;
  readonly #held: Readonly<Record<JoinedKind, Map<string, KubeObject>>> = { node: new Map(), config: new Map() };
  readonly #waitsFor: Set<JoinedKind>;

  /** @param names - nodes to report; those that do not exist are reported as deleted. undefined: all */
  constructor(serves: Serves, names: ReadonlySet<string> | undefined, onSeen: OnSeen) {
    this.#serves = serves;
    this.#names = names;
    this.#onSeen = onSeen;
    this.#waitsFor = new Set(kindsOf(serves));
  }

  held(kind: JoinedKind): ReadonlyMap<string, KubeObject> {
    return this.#held[kind];
  }

  /** @param object - undefined: it was deleted */
  set(kind: JoinedKind, name: string, object: KubeObject | undefined): void {
    if (this.#names?.has(name) === false) return;
    if (object) this.#held[kind].set(name, object);
    else this.#held[kind].delete(name);
    if (this.#waitsFor.size > 0) return;
    // Changes of a NodeConfig without a Node are not reported.
    if (kind === 'node' || this.#held.node.has(name)) this.#report(name);
  }

  /** Called when all objects of a kind have been set. */
  complete(kind: JoinedKind): void {
    if (!this.#waitsFor.delete(kind) || this.#waitsFor.size > 0) return;
    for (const name of new Set([...this.#held.node.keys(), ...(this.#names ?? [])])) this.#report(name);
  }

  #report(name: string): void {
    const node = this.#held.node.get(name);
    this.#onSeen(name, node && fleetNode(node, this.#held.config.get(name), this.#serves));
  }
}

/** Passes one kind of objects to a join. */
class JoinSink implements Sink<KubeObject> {
  readonly #join: FleetJoin;
  readonly #kind: JoinedKind;

  constructor(join: FleetJoin, kind: JoinedKind) {
    this.#join = join;
    this.#kind = kind;
  }

  keep(object: KubeObject): KubeObject {
    return kept[this.#kind](object);
  }

  held(name: string): KubeObject | undefined {
    return this.#join.held(this.#kind).get(name);
  }

  async replace(items: readonly KubeObject[]): Promise<void> {
    const gone = new Set(this.#join.held(this.#kind).keys());
    for (const item of items) {
      const name = item.metadata.name ?? '';
      gone.delete(name);
      this.#join.set(this.#kind, name, item);
    }
    for (const name of gone) this.#join.set(this.#kind, name, undefined);
    this.#join.complete(this.#kind);
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): 'applied' {
    this.#join.set(this.#kind, object.metadata.name ?? '', type === 'DELETED' ? undefined : this.keep(object));
    return 'applied';
  }

  reached(): void {}
}
