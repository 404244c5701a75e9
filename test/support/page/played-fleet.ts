import { rfc3339, type Clock, type Millis } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import type { KubeList, KubeObject } from '../../../kube/api/object.ts';
import { NodeDetails } from '../../../controllers/page/node-detail.ts';
import { NodeEvents } from '../../../controllers/page/node-events.ts';
import { noPageMetrics } from '../../../controllers/page/page.ts';
import type { PageMetrics, PageNodeDetail } from '../../../controllers/page/contract.ts';
import { memoize } from '../../../kube/cache/contract.ts';
import { byOwner } from '../../../kube/controller/owners.ts';
import { FleetPicture } from '../../../controllers/page/fleet-model.ts';
import { FleetStream } from '../../../controllers/page/stream.ts';
import { revisionOf, type ConfigMap } from '../../../controllers/rollout/revision.ts';
import { rulesOf } from '../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout, NodeFailure, RolloutStatus } from '../../../controllers/rollout/types.ts';

const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
const POOLS = ['web', 'web', 'web', 'batch', 'batch', 'gpu'];
const VERSIONS = ['v1.34.9', 'v1.35.5', 'v1.36.3', 'v1.36.3'];
const KEY = 'kubelet';
const NAMESPACE = 'dkc-system';
const REVISION = 'web-6f9c2b81';
const PREVIOUS = 'web-a1904e7d';
const GPU = 'gpu-77d1c0aa';
/** What the revisions hold: the second differs in a field that is safe and in one that needs a drain. */
const PAYLOAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const PAYLOADS: Readonly<Record<string, string>> = {
  [PREVIOUS]: `${PAYLOAD}maxPods: 110\n`,
  [REVISION]: `${PAYLOAD}maxPods: 120\nkubeReserved: {cpu: 200m}\nserializeImagePulls: false\n`,
  [GPU]: `${PAYLOAD}topologyManagerPolicy: single-numa-node\n`,
};
type Where = 'waiting' | 'assigned' | 'trial' | 'settled' | 'refused' | 'condemned';
const ERRORS: Partial<Record<Where, string>> = {
  refused: 'failed to validate config, see Kubelet log for details',
  condemned: 'failed trial, see dkc-agent log for details',
};

/** Nodes and rollouts as caches have them, without a server, and a rollout that goes through them as fast as it is asked to. */
export class PlayedFleet {
  readonly caches = {
    nodes: new Shelf<KubeObject>(),
    nodeConfigs: new Shelf<KubeObject>(),
    rollouts: new Shelf<NodeConfigRollout>(),
    configMaps: new Shelf<ConfigMap>(),
  };
  readonly picture: FleetPicture;
  readonly stream: FleetStream;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #random: Random;
  readonly #where = new Map<string, Where>();
  /** Of the rollout, in the order in which it takes them. */
  readonly #order: string[] = [];
  readonly #began: Millis;
  readonly #failures: NodeFailure[] = [];

  /** Undefined: there is no such node. */
  readonly detail: (name: string) => Promise<PageNodeDetail | undefined>;
  readonly #events = new Map<string, KubeObject[]>();

  constructor(
    count: number,
    { clock, random, metrics = noPageMetrics }: { clock: Pick<Clock, 'now' | 'after'>; random: Random; metrics?: PageMetrics },
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#began = clock.now();
    this.picture = new FleetPicture({ caches: this.caches, serves, rules: memoize(rulesOf) });
    this.stream = new FleetStream({ picture: this.picture, clock, metrics });
    const details = new NodeDetails(this.caches.configMaps);
    const history = new NodeEvents({ list: async (_, query) => this.#eventsFor(query?.fieldSelector ?? '') }, clock);
    this.detail = async (name) => {
      const looked = this.picture.nodeDetailInput(name);
      return looked && details.of(looked, await history.of(name));
    };
    for (const [rollout, name, number] of [
      ['web', PREVIOUS, 1],
      ['web', REVISION, 2],
      ['gpu', GPU, 1],
    ] as const)
      // prettier-ignore
      this.caches.configMaps.set(`${NAMESPACE}/${name}`, this.#revision(rollout, name, number));
    for (let at = 0; at < count; at++) this.addNode(`node-${String(at).padStart(4, '0')}`, at);
    this.#order.sort(() => random() - 0.5);
    this.caches.rollouts.set('gpu', this.#complete('gpu', { pool: 'gpu' }));
    this.#writeStatus();
  }

  addNode(name: string, at = this.#where.size): void {
    const pick = (from: readonly string[], by: number): string => from[Math.floor(by) % from.length] ?? '';
    const labels = { 'topology.kubernetes.io/zone': pick(ZONES, at), pool: pick(POOLS, at * 7 + at / 11) };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }];
    const status = { nodeInfo: { kubeletVersion: pick(VERSIONS, at / 5) }, conditions };
    this.caches.nodes.set(name, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {}, status });
    if (labels.pool !== 'gpu') this.#order.push(name);
    this.#put(name, labels.pool === 'gpu' ? 'settled' : 'waiting');
  }

  removeNode(name: string): void {
    const node = this.caches.nodes.get(name);
    if (node === undefined) return;
    this.caches.nodes.delete(name);
    this.caches.nodeConfigs.delete(name);
    this.#where.delete(name);
    if (this.#order.includes(name)) this.#order.splice(this.#order.indexOf(name), 1);
    this.#changed(node);
  }

  setReady(name: string, ready: boolean): void {
    const node = this.caches.nodes.get(name);
    if (node === undefined) return;
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', reason: ready ? 'KubeletReady' : 'NodeStatusUnknown', message: '' }]; // prettier-ignore
    this.caches.nodes.set(name, { ...node, status: { ...(node as { status?: object }).status, conditions } });
    this.#changed(node);
  }

  /** The rollout goes on by so many nodes. @param failing - share of them that fail, 0 to 1 */
  advance(nodes: number, failing = 0): void {
    let left = nodes;
    for (const name of this.#order) {
      if (left <= 0) break;
      const where = this.#where.get(name);
      if (where === 'settled' || where === 'refused' || where === 'condemned') continue;
      left--;
      if (where === 'assigned' && this.#random() < failing) this.#fail(name, 'refused');
      else if (where === 'trial' && this.#random() < failing) this.#fail(name, 'condemned');
      else this.#put(name, where === 'waiting' ? 'assigned' : where === 'assigned' ? 'trial' : 'settled');
    }
    this.#writeStatus();
  }

  removeRollout(name: string): void {
    this.caches.rollouts.delete(name);
    this.#rolloutsChanged();
  }

  #revision(rollout: string, name: string, number: number): ConfigMap {
    const from = { metadata: { namespace: NAMESPACE, name: rollout, resourceVersion: '4700' }, data: { [KEY]: PAYLOADS[name] ?? '' } };
    const made = revisionOf(this.#named(rollout, 0, {}), from, name, number);
    const creationTimestamp = rfc3339(this.#began + number * 1_000 - 3_600_000);
    return { ...made, metadata: { ...made.metadata, uid: `uid-${name}`, resourceVersion: '4711', creationTimestamp } };
  }

  /** Events about a node, as the API server selects them. */
  #eventsFor(selector: string): KubeList<never> {
    return { metadata: {}, items: (this.#events.get(selector.split('involvedObject.name=')[1] ?? '') ?? []) as never[] };
  }

  #happened(node: string, reason: string, message: string): void {
    const type = /Refused|Condemned/.test(reason) ? 'Warning' : 'Normal';
    const at = rfc3339(this.#clock.now());
    const known = this.#events.get(node) ?? [];
    const event = { metadata: { name: `${node}.${known.length}`, namespace: 'default' }, type, reason, message, lastTimestamp: at, count: 1, source: { component: 'kubelet', host: node } }; // prettier-ignore
    this.#events.set(node, [...known, event]);
  }

  #fail(name: string, where: 'refused' | 'condemned'): void {
    this.#put(name, where);
    this.#failures.push({ node: name, error: ERRORS[where] ?? '', at: rfc3339(this.#clock.now()) });
  }

  #put(name: string, where: Where): void {
    this.#where.set(name, where);
    const isOwnScheduler = this.#order.includes(name);
    const to = (revision: string) => ({ namespace: NAMESPACE, name: revision, kubeletConfigKey: KEY });
    const source = (revision: string) => ({ configMap: { ...to(revision), uid: `uid-${revision}`, resourceVersion: '4711' } });
    const of = `${NAMESPACE}/${REVISION}:${KEY}`;
    const events: Readonly<Record<Where, [reason: string, message: string] | undefined>> = {
      waiting: undefined,
      assigned: ['RolloutAssigned', `rollout web assigns ${of}`],
      trial: ['KubeletConfigChanged', `Kubelet restarting to use ${of}`],
      settled: isOwnScheduler ? ['KubeletConfigTrusted', `Trusted ${of}: healthy for 10m`] : undefined,
      refused: ['KubeletConfigRefused', `Refused ${of}: kubeReserved: no such cgroup [fatal]`],
      condemned: ['KubeletConfigCondemned', `Condemned ${of}: kubelet exited 3 times during its trial`],
    };
    if (events[where] !== undefined) this.#happened(name, ...events[where]);
    const [old, next] = isOwnScheduler ? [PREVIOUS, REVISION] : [GPU, GPU];
    /** The new one as soon as it is there. */
    const at = (...of: Where[]) => source(of.includes(where) ? next : old);
    const status = {
      // An agent that has not seen its spec yet speaks of the one before.
      observedGeneration: where === 'assigned' ? 1 : 2,
      agentVersion: '0.1.0',
      assigned: at('trial', 'settled', 'condemned'),
      active: at('trial', 'settled'),
      lastKnownGood: at('settled'),
      ...(where in ERRORS && { error: ERRORS[where] }),
      ...(where === 'trial' && { trial: { endsAt: rfc3339(this.#clock.now() + 600_000) } }),
      conditions: [
        { type: 'Healthy', status: 'True', reason: 'KubeletHealthy', message: '', lastTransitionTime: rfc3339(this.#began) },
        { type: 'Trusted', status: where === 'settled' ? 'True' : 'False', reason: 'Trial', message: '', lastTransitionTime: rfc3339(this.#clock.now()) }, // prettier-ignore
      ],
    };
    const config = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name, generation: 2 }, spec: { configMap: to(where === 'waiting' ? old : next) }, status }; // prettier-ignore
    this.caches.nodeConfigs.set(name, config);
    this.#changed(config);
  }

  #writeStatus(): void {
    const at = (...of: Where[]): number => this.#order.filter((name) => of.includes(this.#where.get(name) ?? 'waiting')).length;
    const [selected, settled, inFlight] = [this.#order.length, at('settled'), at('assigned', 'trial')];
    const failed = this.#failures.length;
    const isStopped = failed > 2;
    const phase = isStopped ? 'Failed' : settled === selected ? 'Complete' : 'Progressing';
    const now = rfc3339(this.#clock.now());
    const status: RolloutStatus = {
      observedGeneration: 1,
      phase,
      revision: REVISION,
      previousRevision: PREVIOUS,
      ...(isStopped && { stopped: 'Failures' }),
      step: settled < 1 ? 1 : settled < selected / 10 ? 2 : settled < selected / 2 ? 3 : 4,
      nodes: { selected, updated: settled + inFlight, settled, inFlight, failed, refused: 0 },
      failures: this.#failures.slice(0, 50),
      approvals: settled < selected / 10 ? [] : [{ step: 2, revision: REVISION, by: 'operator@example.com', at: now }],
      message: `${settled}/${selected} nodes settled; ${isStopped ? 'stopped: its failure budget is used up' : `${inFlight} in flight`}`,
      conditions: [
        { type: 'Progressing', status: phase === 'Progressing' ? 'True' : 'False', observedGeneration: 1, lastTransitionTime: rfc3339(this.#began), reason: phase, message: '' }, // prettier-ignore
        { type: 'Failed', status: isStopped ? 'True' : 'False', observedGeneration: 1, lastTransitionTime: now, reason: phase === 'Failed' ? 'FailureBudget' : phase, message: '' }, // prettier-ignore
      ],
    };
    this.caches.rollouts.set('web', {
      ...this.#named('web', -3_600_000, { matchExpressions: [{ key: 'pool', operator: 'In', values: ['web', 'batch'] }] }),
      status,
    });
    this.#rolloutsChanged();
  }

  #complete(name: string, matchLabels: Record<string, string>): NodeConfigRollout {
    const selected = this.caches.nodes.list().length - this.#order.length;
    const nodes = { selected, updated: selected, settled: selected, inFlight: 0, failed: 0, refused: 0 };
    const at = rfc3339(this.#began - 86_400_000);
    const conditions = [
      { type: 'Complete', status: 'True' as const, observedGeneration: 1, lastTransitionTime: at, reason: 'Complete', message: '' },
    ];
    const status: RolloutStatus = { observedGeneration: 1, phase: 'Complete', revision: GPU, step: 4, nodes, complete: true, message: `${selected}/${selected} nodes settled; complete`, conditions }; // prettier-ignore
    return { ...this.#named(name, -90_000_000, { matchLabels }), status };
  }

  #named(name: string, ageMs: Millis, nodeSelector: NonNullable<NodeConfigRollout['spec']>['nodeSelector'] & object): NodeConfigRollout {
    return {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfigRollout',
      metadata: { name, uid: `uid-${name}`, generation: 1, creationTimestamp: rfc3339(this.#began + ageMs) },
      spec: {
        nodeSelector,
        configMap: { namespace: NAMESPACE, name, kubeletConfigKey: KEY },
        steps: [{ nodes: 1, hold: '10m' }, { nodes: '10%', approve: true }, { nodes: '50%', hold: '30m' }, { nodes: '100%' }],
        failureBudget: 3,
        windows: [{ schedule: '0 2 * * 1-5', duration: '3h', timeZone: 'Europe/Berlin' }],
        gates: [{ name: 'no-alerts', prometheus: { url: 'http://prometheus.example.com/secret', query: 'ALERTS' } }],
      },
    };
  }

  #changed(node: KubeObject): void {
    this.picture.nodeChanged(node);
    this.stream.changed();
  }

  #rolloutsChanged(): void {
    this.picture.rolloutChanged();
    this.stream.changed();
  }
}

/** A map that has what the picture reads of a cache. */
class Shelf<T extends KubeObject> extends Map<string, T> {
  list(): Readonly<T>[] {
    return [...this.values()];
  }

  indexed(_: string, owner: string): Readonly<T>[] {
    return this.list().filter((one) => byOwner(one).includes(owner));
  }
}
