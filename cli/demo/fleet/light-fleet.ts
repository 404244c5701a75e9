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
  /** Version that the agents report. */
  version: string;
  /** Client of all agents and kubelets. */
  client: Client;
  /** Client of the agent with this index; for servers that limit the watches of one connection. @default client */
  clientOf?: (at: number) => Client;
}

const FLEET_KUBELET_VERSION = 'v1.36.3';
const POOL_LABEL = 'pool';
const ZONES = 3;
/** One node in five is in a different pool. */
const POOLS = ['web', 'web', 'web', 'web', 'batch'] as const;
const POLL_MS: Millis = 200;
/** Concurrent creations of nodes. */
const AT_ONCE = 32;

/** In-process nodes in a few zones and pools, each with its agent. */
export class LightFleet implements AsyncDisposable {
  readonly nodes: readonly LightNode[];
  readonly #deps: FleetDeps;
  readonly #pools = new Map<string, string>();
  /** Caches the decision per pool and configuration: it is the same for all nodes of a pool. */
  readonly #fatal = new Map<string, string | undefined>();
  /** Number of kubelet crashes. */
  crashes = 0;
  /** Nodes whose kubelets crashed. */
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

  /** Creates the Nodes and starts their agents. Resolves once each agent has reported itself on its Node. */
  async start(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps;
    for (let at = 0; at < this.nodes.length; at += AT_ONCE) {
      const some = this.nodes.slice(at, at + AT_ONCE);
      await Promise.all(some.map(({ name }, of) => client.create(nodes, this.#node(name, at + of), { signal })));
      for (const node of some) node.start();
    }
    for (let left = this.nodes.length; left > 0; await clock.sleep(POLL_MS, signal)) {
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

  /** The cgroup that a configuration names is missing in one pool only: the configuration works on most nodes, but not on all. */
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
