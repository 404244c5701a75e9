import { type Caches, observe, type ObserveDeps } from '../controllers/rollout/observe.ts';
import { Fleets } from '../controllers/rollout/fleet.ts';
import { kubeletConfigs } from '../controllers/rollout/kubelet-configs.ts';
import type { Node } from '../controllers/rollout/drain/contract.ts';
import { rolloutsRecordedOn } from '../controllers/rollout/maintenance.ts';
import { plan } from '../controllers/rollout/plan.ts';
import { type ConfigMap, contentHash, revisionName, revisionOf } from '../controllers/rollout/revision.ts';
import { KnownTouchesOf } from '../controllers/rollout/touches.ts';
import { rulesOf } from '../controllers/rollout/rules.ts';
import { ASSIGNED_AT_ANNOTATION, type NodeConfigRollout, ROLLOUT_ANNOTATION } from '../controllers/rollout/types.ts';
import type { KubeObject } from '../kube/api/object.ts';
import { byOwner } from '../kube/controller/owners.ts';
import type { Figure } from './figure.ts';

const LARGE = 5_000;
const SMALL = 500;
const ROUNDS = 7;
const EVENTS = 50;
const AT = '2026-01-01T00:00:00Z';

/**
 * Cost of one reconcile of a complete rollout after the NodeConfig of one node changed: with 5,000 nodes, compared with 500; and the longest turn of the
 * event loop when a process starts, or spec was edited, and all nodes are read. Without an API server.
 */
export async function rolloutGrowth(): Promise<Figure[]> {
  const values = { large: [] as number[], small: [] as number[] };
  // Measured first, since the code of a new process is not optimized yet.
  const firsts = Array.from({ length: ROUNDS }, () => longestTurn(fleetOf(LARGE)));
  const [large, small] = [fleetOf(LARGE), fleetOf(SMALL)];
  for (const look of [large, small]) longestTurn(look);
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const costs = { large: costOf(large), small: costOf(small) };
    if (round > 0) for (const size of ['large', 'small'] as const) values[size].push(costs[size]);
  }
  return [
    {
      what: `rollout: observe and plan after one node's event, ${LARGE.toLocaleString('en')} nodes`,
      ours: { name: `${LARGE} nodes`, unit: 'ms', values: values.large },
      against: { name: `${SMALL} nodes`, unit: 'ms', values: values.small },
      reach: { atMost: 1.25 },
    },
    {
      what: `rollout: longest turn of the event loop when ${LARGE.toLocaleString('en')} nodes are read`,
      ours: { name: `${LARGE} nodes`, unit: 'ms', values: firsts, quantile: 1 },
      reach: { atMost: 100 },
    },
  ];
}

/** One turn of the event loop. @returns whether it reached a plan; false: there are more nodes to read or to place */
type Look = (event: number) => boolean;

function costOf(look: Look): number {
  const from = performance.now();
  for (let event = 0; event < EVENTS; event++) look(event);
  return (performance.now() - from) / EVENTS;
}

/** The longest turn until there is a plan, in ms. */
function longestTurn(look: Look): number {
  for (let longest = 0; ;) {
    const from = performance.now();
    const isPlanned = look(0);
    longest = Math.max(longest, performance.now() - from);
    if (isPlanned) return longest;
  }
}

function fleetOf(count: number): Look {
  const source: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'dkc-system', name: 'web', uid: 'source', resourceVersion: '1' },
    data: { kubelet: 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 120\n' },
  };
  const name = revisionName('web', contentHash(source, 'kubelet'));
  const rollout: NodeConfigRollout = {
    metadata: { name: 'web', uid: 'rollout', generation: 1 },
    spec: { nodeSelector: {}, configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' } },
    status: { revision: name, complete: true, phase: 'Complete', step: 4, attempt: 1 },
  };
  const copy = revisionOf(rollout, source, name, 1);
  const revision = { ...copy, metadata: { ...copy.metadata, uid: 'copy', resourceVersion: '2' } };
  const names = Array.from({ length: count }, (_, at) => `node-${at}`);
  const nodes = names.map(nodeOf);
  // Fills the memo, as the index of the cache does.
  for (const node of nodes) rolloutsRecordedOn(node as Readonly<Node>);
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const configs = new Map(names.map((node) => [node, configOf(node, name, 1)]));
  const maps = new Map([source, revision].map((one) => [`dkc-system/${one.metadata.name}`, one]));
  const cache = (items: () => readonly KubeObject[], get: (key: string) => KubeObject | undefined) => ({
    list: items,
    get,
    indexed: (_: string, owner: string) => items().filter((one) => byOwner(one).includes(owner)),
  });
  const caches = {
    rollouts: cache(() => [rollout], () => rollout), // prettier-ignore
    nodes: cache(() => nodes, (key) => byName.get(key)), // prettier-ignore
    nodeConfigs: cache(() => [...configs.values()], (key) => configs.get(key)), // prettier-ignore
    configMaps: cache(() => [...maps.values()], (key) => maps.get(key)), // prettier-ignore
  } as unknown as Caches;
  const fleets = new Fleets();
  const observer: ObserveDeps = {
    caches,
    fleets,
    touches: new KnownTouchesOf({ monotonic: () => 0 }),
    rules: rulesOf,
    configs: kubeletConfigs(),
    serves: { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false },
    drains: { statesOf: () => new Map() },
  };
  const rules = rulesOf(rollout);
  return (event) => {
    const node = names[event % count] ?? '';
    configs.set(node, configOf(node, name, event + 2));
    fleets.changed(rollout.metadata.name ?? '', node);
    const facts = observe(rules, Date.parse(AT), observer);
    if (facts === undefined) return false;
    const planned = plan({ ...facts, gates: undefined });
    if (planned === undefined) return false;
    const { status } = planned;
    if (status.nodes?.settled !== count) throw new Error(`the fleet is not settled: ${JSON.stringify(status)}`);
    return true;
  };
}

const nodeOf = (name: string): KubeObject => ({
  kind: 'Node',
  metadata: { name, uid: `uid-${name}`, annotations: { 'dkc.dev/agent': '{}' } },
  status: { nodeInfo: { kubeletVersion: 'v1.36.3' }, conditions: [{ type: 'Ready', status: 'True' }] },
});

function configOf(node: string, name: string, version: number): KubeObject {
  const source = { namespace: 'dkc-system', name, kubeletConfigKey: 'kubelet' };
  const used = { configMap: { ...source, uid: 'copy', resourceVersion: '2' } };
  return {
    kind: 'NodeConfig',
    metadata: {
      name: node,
      generation: 1,
      resourceVersion: String(version),
      annotations: { [ROLLOUT_ANNOTATION]: 'web', [ASSIGNED_AT_ANNOTATION]: AT },
    },
    spec: { configMap: source },
    status: { observedGeneration: 1, agentVersion: '0.1.0', assigned: used, active: used, lastKnownGood: used },
  };
}
