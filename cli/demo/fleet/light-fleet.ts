import { newestKubeletVersion, decode } from '../../../agent/config/config.ts';
import type { Clock, Millis } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import { nodes, type KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { AGENT_ANNOTATION } from '../../../agent/status/node-status.ts';
import { sha256 } from '../../../agent/checkpoint/payload.ts';
import { fatalHere } from '../kubelet.ts';
import { localConfig } from '../stage.ts';
import { LightNode, type Pace } from './light-node.ts';

export interface FleetDeps {
  count: number;
  pace: Pace;
  clock: Clock;
  random: Random;
  /** Of the agents. */
  version: string;
  /** Of all agents and kubelets. */
  client: Client;
  /** Of one agent, by its place; where a server has a bound on watches of one connection. @default client */
  clientOf?: (at: number) => Client;
}

const FLEET_KUBELET_VERSION = 'v1.36.3';
const POOL_LABEL = 'pool';
const ZONES = 3;
/** One node in five is of another pool than the others. */
const POOLS = ['web', 'web', 'web', 'web', 'batch'] as const;
const LOOK_MS: Millis = 200;
/** Nodes that are created at once. */
const AT_ONCE = 32;

/** Nodes of a few zones and pools, each with its agent, in this process. */
export class LightFleet implements AsyncDisposable {
  readonly nodes: readonly LightNode[];
  readonly #deps: FleetDeps;
  readonly #pools = new Map<string, string>();
  /** What decides about a kubelet is the same for all nodes of a pool, and they are many. */
  readonly #fatal = new Map<string, string | undefined>();
  /** Ends of kubelets that nobody asked for. */
  crashes = 0;
  /** Nodes whose kubelets ended so. */
  readonly crashed = new Set<string>();

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    const digits = String(deps.count).length;
    this.nodes = Array.from({ length: deps.count }, (_, at) => {
      const pool = POOLS[at % POOLS.length] ?? POOLS[0];
      const name = `${pool}-${String(at + 1).padStart(digits, '0')}`;
      this.#pools.set(name, pool);
      const { pace, clock, random, version, client, clientOf = () => client } = deps;
      return new LightNode({
        name,
        kubeletVersion: FLEET_KUBELET_VERSION,
        localConfig,
        pace,
        clock,
        random,
        version,
        client: clientOf(at),
        fatal: (config) => this.#fatalOn(pool, config),
        onKubelet: (state) => this.#kubelet(name, state),
      });
    });
  }

  /** Creates the Nodes and starts their agents. Resolves once each of them has said on its Node that it is there. */
  async start(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps;
    for (let at = 0; at < this.nodes.length; at += AT_ONCE) {
      const some = this.nodes.slice(at, at + AT_ONCE);
      await Promise.all(some.map(({ name }, of) => client.create(nodes, this.#node(name, at + of), { signal })));
      for (const node of some) node.start();
    }
    for (let left = this.nodes.length; left > 0; await clock.sleep(LOOK_MS, signal)) {
      const { items } = await client.list(nodes, {}, { signal });
      left = items.filter(({ metadata }) => metadata.annotations?.[AGENT_ANNOTATION] === undefined).length;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  #node(name: string, at: number): KubeObject {
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: {
          'kubernetes.io/hostname': name,
          'topology.kubernetes.io/zone': `zone-${'abc'[Math.floor(at / POOLS.length) % ZONES]}`,
          [POOL_LABEL]: this.#pools.get(name) ?? '',
        },
      },
      status: {
        conditions: [readyCondition(true, this.#deps.clock.now())],
        nodeInfo: { kubeletVersion: FLEET_KUBELET_VERSION },
      },
    };
  }

  /** The cgroup that a configuration names is missing on the nodes of one pool only: what is well on most nodes is not on all. */
  #fatalOn(pool: string, config: Uint8Array): string | undefined {
    if (pool !== 'batch') return undefined;
    const key = sha256(config);
    if (!this.#fatal.has(key)) {
      const decoded = decode(config, newestKubeletVersion);
      this.#fatal.set(key, decoded.ok ? fatalHere(decoded.written) : 'Failed to load the configuration');
    }
    return this.#fatal.get(key);
  }

  #kubelet(name: string, state: 'up' | 'crashed'): void {
    if (state === 'up') return;
    this.crashes += 1;
    this.crashed.add(name);
  }
}

function readyCondition(ready: boolean, now: number): Record<string, string> {
  const at = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: ready ? 'KubeletReady' : 'KubeletNotReady',
    message: '',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}
