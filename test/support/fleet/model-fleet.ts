import type { Millis } from '../../../base/clock.ts';
import { seededRandom, type Random } from '../../../base/random.ts';
import type { Source } from '../../../agent/checkpoint/source.ts';
import { specOf } from '../../../controllers/rollout/contract.ts';
import { type RolloutNode } from '../../../controllers/rollout/node.ts';
import type { ConfigMap } from '../../../controllers/rollout/revision.ts';
import { rulesOf, type Rules } from '../../../controllers/rollout/rules.ts';
import {
  ASSIGNED_AT_ANNOTATION,
  ROLLOUT_ANNOTATION,
  type NodeConfigRollout,
  type RolloutSpec,
} from '../../../controllers/rollout/types.ts';
import { memoize } from '../../../kube/cache/contract.ts';
import { jsonEqual } from '../../../kube/api/json.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

/** What a node does with a payload, once it is assigned. */
export type Fate = 'trusts' | 'rejects' | 'condemns' | 'hangs' | 'goes down';

/** What a node is, whatever anybody has been told of it. */
export interface ModelNode {
  name: string;
  labels: Record<string, string>;
  ready: boolean;
  cordoned: boolean;
  annotations: Record<string, string>;
  /** NAME/UID of the rollout in which it comes next, as its condition says. */
  planned: string | undefined;
  wanted: Source | null;
  assignedAt: string | undefined;
  rollout: string | undefined;
  active: Source | null;
  lastKnownGood: Source | null;
  trial: boolean;
  error: string | undefined;
  /** Of its spec, and the one that its agent has seen. */
  generation: number;
  observed: number;
  /** When its pods are gone that are evicted now, on the clock that nobody sets. */
  podsGoneAt: Millis;
  /** What happens to it next, and when. */
  next: { at: Millis; do: () => void }[];
}

const rulesRead = memoize(rulesOf);
export const START = Date.parse('2026-03-01T00:00:00Z');
export const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
export type Kind = 'nodes' | 'nodeConfigs' | 'rollouts' | 'configMaps';

/** A write that the API server does not take, for somebody else was first, or whose answer nobody hears. */
export class NotWritten extends Error {}

/** A fleet as plain values: what an API server would keep, without one, and nodes that act on it. A thousand rollouts take seconds. */
export class ModelFleet {
  readonly random: Random;
  /** Of the clock that nobody sets. */
  time: Millis = 0;
  /** How far the wall clock was set from it. */
  offset: Millis = START;
  readonly nodes = new Map<string, ModelNode>();
  /** As the API server has them. Objects never change: each write makes another. */
  readonly stored: Record<Kind, Map<string, KubeObject>> = {
    nodes: new Map(),
    nodeConfigs: new Map(),
    rollouts: new Map(),
    configMaps: new Map(),
  };
  version = 0;
  /** By content: what nodes do with it. */
  fateOf: (content: string, node: string) => Fate = () => 'trusts';

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  get now(): Millis {
    return this.time + this.offset;
  }

  #store(kind: Kind, object: KubeObject): KubeObject {
    const { name = '' } = object.metadata;
    const before = this.stored[kind].get(name);
    const uid = before?.metadata.uid ?? object.metadata.uid ?? `uid-${name}-${this.version}`;
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String((this.version += 1)) } };
    this.stored[kind].set(name, stored);
    return stored;
  }

  /** Somebody writes another payload. */
  publish(content: string, name = 'web'): void {
    this.#store('configMaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'dkc-system' }, data: { kubelet: content } }); // prettier-ignore
  }

  roll(name: string, spec: Partial<RolloutSpec> = {}): void {
    const creationTimestamp = new Date(START + this.version).toISOString();
    this.#store('rollouts', {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfigRollout',
      metadata: { name, generation: 1, creationTimestamp },
      spec: { nodeSelector: {}, configMap: { namespace: 'dkc-system', name, kubeletConfigKey: 'kubelet' }, ...spec },
    });
  }

  rollout(name: string): NodeConfigRollout {
    return this.stored.rollouts.get(name) as NodeConfigRollout;
  }

  edit(name: string, spec: Partial<RolloutSpec>): void {
    const { metadata, ...rest } = this.rollout(name);
    this.#store('rollouts', { ...rest, metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 }, spec: { ...rest.spec, ...spec } }); // prettier-ignore
  }

  add(name: string, labels: Record<string, string> = {}): void {
    const seen = { ready: true, cordoned: false, annotations: {}, planned: undefined };
    const assigned = { wanted: null, assignedAt: undefined, rollout: undefined, generation: 1, observed: 1 };
    const runs = { active: null, lastKnownGood: null, trial: false, error: undefined, podsGoneAt: Infinity, next: [] };
    this.nodes.set(name, { name, labels, ...seen, ...assigned, ...runs });
    this.#store('nodes', { metadata: { name } });
    this.changed(name, 'nodes', 'nodeConfigs');
  }

  remove(name: string): void {
    this.version += 1;
    this.nodes.delete(name);
    this.stored.nodes.delete(name);
    this.stored.nodeConfigs.delete(name);
  }

  /** Lets time pass, and nodes do what they are about to do. */
  pass(ms: Millis): void {
    this.time += ms;
    for (const node of this.nodes.values()) {
      if (node.next.length === 0) continue;
      const due = node.next.filter(({ at }) => at <= this.time).toSorted((a, b) => a.at - b.at);
      node.next = node.next.filter(({ at }) => at > this.time);
      for (const one of due) one.do();
      if (due.length > 0) node.observed = node.generation;
      if (due.length > 0) this.changed(node.name, 'nodes', 'nodeConfigs');
    }
  }

  /** Time until a node does something; ms. */
  nextIn(): Millis {
    let next = Infinity;
    for (const node of this.nodes.values()) for (const { at } of node.next) next = Math.min(next, at - this.time);
    return Math.max(0, next);
  }

  /** What is true of a node is written to its objects. */
  changed(name: string, ...kinds: readonly Kind[]): void {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    if (kinds.includes('nodes')) {
      const uid = this.stored.nodes.get(name)?.metadata.uid ?? '';
      const planned = { type: 'MaintenancePlanned', status: 'True', message: `NodeConfigRollout ${node.planned}: it comes next` };
      const conditions = [{ type: 'Ready', status: node.ready ? 'True' : 'False' }, ...(node.planned === undefined ? [] : [planned])];
      const metadata = { name, uid, labels: { ...node.labels }, annotations: { ...node.annotations } };
      this.#store('nodes', { apiVersion: 'v1', kind: 'Node', metadata, spec: { unschedulable: node.cordoned }, status: { nodeInfo: { kubeletVersion: 'v1.36.3' }, conditions } }); // prettier-ignore
    }
    if (!kinds.includes('nodeConfigs')) return;
    const member = (source: Source | null) => (source === null ? undefined : { configMap: source });
    const annotations = {
      ...(node.rollout === undefined ? {} : { [ROLLOUT_ANNOTATION]: node.rollout }),
      ...(node.assignedAt === undefined ? {} : { [ASSIGNED_AT_ANNOTATION]: node.assignedAt }),
    };
    this.#store('nodeConfigs', {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfig',
      metadata: { name, generation: node.generation, annotations },
      spec: node.wanted === null ? {} : { configMap: node.wanted },
      status: {
        observedGeneration: node.observed,
        agentVersion: '0.1.0',
        assigned: member(node.active),
        active: member(node.active),
        lastKnownGood: member(node.lastKnownGood),
        ...(node.error === undefined ? {} : { error: node.error }),
        ...(node.trial ? { trial: { endsAt: '2026-03-01T01:00:00Z' } } : {}),
      },
    });
  }

  rules(name: string): Rules {
    return rulesRead(this.rollout(name));
  }

  /** @throws NotWritten where it is not the version that it was read as, any more */
  check(kind: Kind, object: Readonly<KubeObject> | undefined): void {
    const { name = '', uid, resourceVersion } = object?.metadata ?? {};
    const now = this.stored[kind].get(name)?.metadata;
    if (now?.resourceVersion !== resourceVersion || now?.uid !== uid) throw new NotWritten(`${kind} ${name} has changed`);
  }

  writeStatus(rollout: Readonly<NodeConfigRollout>): void {
    this.check('rollouts', rollout);
    if (!jsonEqual(this.rollout(rollout.metadata.name ?? '').status ?? {}, rollout.status ?? {})) this.#store('rollouts', rollout);
  }

  /** Creates it, or writes it on the version that it has. */
  writeConfigMap(object: Readonly<ConfigMap>): void {
    this.check(
      'configMaps',
      this.stored.configMaps.has(object.metadata.name ?? '') || object.metadata.uid !== undefined ? object : undefined,
    );
    this.#store('configMaps', object);
  }

  createRevision(revision: ConfigMap): void {
    if (!this.stored.configMaps.has(revision.metadata.name ?? '')) this.#store('configMaps', revision);
  }

  annotateRevision(name: string, annotations: Record<string, string>): void {
    const found = this.stored.configMaps.get(name);
    if (found === undefined) return;
    this.#store('configMaps', { ...found, metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } } }); // prettier-ignore
    if (annotations['dkc.dev/retry'] === undefined) return;
    for (const node of this.nodes.values())
      if (node.wanted?.name === name && node.error !== undefined) {
        const content = (found as ConfigMap).data?.['kubelet'] ?? '';
        node.next.push({ at: this.time + this.random() * 10_000, do: () => this.#again(node, content) });
      }
  }

  deleteRevision(name: string): void {
    this.version += 1;
    this.stored.configMaps.delete(name);
  }

  restartDeadline(seen: RolloutNode, at: string): void {
    this.check('nodeConfigs', seen.config);
    const node = this.nodes.get(seen.node);
    if (node !== undefined) node.assignedAt = at;
    this.changed(seen.node, 'nodeConfigs');
  }

  /** Says on a Node that it comes next, or does not any more. */
  plan(seen: RolloutNode, rollout: string | undefined): void {
    this.check('nodes', seen.object);
    const node = this.nodes.get(seen.node);
    if (node === undefined) return;
    node.planned = rollout;
    this.changed(seen.node, 'nodes');
  }

  /** Cordon and record of a drain, or what takes them away. */
  patchNode(seen: RolloutNode, annotations: Record<string, string | null>, cordoned: boolean | undefined): void {
    this.check('nodes', seen.object);
    const node = this.nodes.get(seen.node);
    if (node === undefined) return;
    for (const [key, value] of Object.entries(annotations)) {
      if (value === null) delete node.annotations[key];
      else node.annotations[key] = value;
    }
    if (cordoned !== undefined) node.cordoned = cordoned;
    this.changed(seen.node, 'nodes');
  }

  assign(rollout: string, seen: RolloutNode, revision: string | undefined, at: string): void {
    this.check('nodeConfigs', seen.config);
    const node = this.nodes.get(seen.node);
    if (node === undefined) return;
    const spec = specOf(this.rules(rollout), revision, []);
    const map: ConfigMap | undefined = revision === undefined ? undefined : this.stored.configMaps.get(revision);
    const source = spec && { ...spec, uid: map?.metadata.uid ?? '', resourceVersion: '1' };
    if (node.wanted?.uid !== source?.uid) node.generation += 1;
    Object.assign(node, { wanted: source, assignedAt: at, rollout, error: undefined, next: [] });
    this.#act(node, source, map?.data?.['kubelet'] ?? '');
    this.changed(seen.node, 'nodeConfigs');
  }

  /** Its agent has seen that it is to try again what it could not use. */
  #again(node: ModelNode, content: string): void {
    if (node.error === undefined) return;
    node.error = undefined;
    this.#act(node, node.wanted, content);
  }

  #act(node: ModelNode, source: Source | null, content: string): void {
    const soon = (ms: Millis, act: Partial<ModelNode>, when = (): boolean => true): void =>
      void node.next.push({ at: this.time + ms * (0.5 + this.random()), do: () => when() && Object.assign(node, act) });
    if (source === null || source.uid === node.lastKnownGood?.uid)
      return soon(3_000, { active: source, lastKnownGood: source, trial: false, ready: true });
    const before = node.active;
    switch (this.fateOf(content, node.name)) {
      case 'hangs':
        return;
      case 'rejects':
        return soon(2_000, { error: 'failed to validate config, see Kubelet log for details' });
      case 'goes down':
        return soon(3_000, { active: source, trial: true, ready: false });
      case 'condemns':
        soon(3_000, { active: source, trial: true });
        return soon(60_000, { active: before, trial: false, ready: true, error: 'failed trial, see dkc-agent log for details' });
      case 'trusts':
        soon(3_000, { active: source, trial: true, ready: true });
        return soon(120_000, { active: source, lastKnownGood: source, trial: false }, () => node.wanted === source);
    }
  }
}
