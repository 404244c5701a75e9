import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import type { Millis } from '../../../base/clock.ts';
import type { Source } from '../../../agent/checkpoint/source.ts';
import type { Action } from '../../../controllers/rollout/actions.ts';
import type { Facts } from '../../../controllers/rollout/facts.ts';
import { Fleet } from '../../../controllers/rollout/fleet.ts';
import { specOf } from '../../../controllers/rollout/facts.ts';
import { rolloutNode, type RolloutNode } from '../../../controllers/rollout/node.ts';
import type { ConfigMap } from '../../../controllers/rollout/revision.ts';
import { rulesOf, type Rules } from '../../../controllers/rollout/rules.ts';
import type { NodeConfigRollout, RolloutSpec } from '../../../controllers/rollout/types.ts';

/** What a node does with a payload, once it is assigned. */
export type Fate = 'trusts' | 'rejects' | 'condemns' | 'hangs' | 'goes down';

interface ModelNode {
  name: string;
  labels: Record<string, string>;
  ready: boolean;
  cordoned: boolean;
  wanted: Source | null;
  assignedAt: Millis | undefined;
  rollout: string | undefined;
  active: Source | null;
  lastKnownGood: Source | null;
  trial: boolean;
  error: string | undefined;
  /** What happens to it next, and when. */
  next: { at: Millis; do: () => void }[];
}

export const START = Date.parse('2026-03-01T00:00:00Z');
const FATE_LABEL = 'fate';
const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };

/** A fleet as plain values: what the API server would keep, without one. A thousand rollouts take seconds. */
export class ModelFleet {
  readonly random: Random;
  now: Millis = START;
  readonly nodes = new Map<string, ModelNode>();
  rollout: NodeConfigRollout;
  source: ConfigMap;
  revisions: ConfigMap[] = [];
  #version = 0;
  /** By content: what nodes do with it. */
  fateOf: (content: string, node: string) => Fate = () => 'trusts';
  /** Told before each assignment. */
  onAssign: (node: string, revision: string | undefined) => void = () => {};

  constructor(seed: number, spec: Partial<RolloutSpec> = {}) {
    this.random = seededRandom(seed);
    this.source = this.#configMap('web', 'good');
    this.rollout = {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfigRollout',
      metadata: { name: 'web', uid: `uid-${seed}`, generation: 1, resourceVersion: '1', creationTimestamp: '2026-03-01T00:00:00Z' },
      spec: { nodeSelector: {}, configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' }, ...spec },
    };
  }

  #configMap(name: string, content: string): ConfigMap {
    const version = String((this.#version += 1));
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'dkc-system', uid: `uid-${name}-${version}`, resourceVersion: version },
      data: { kubelet: content },
    };
  }

  /** Somebody writes another payload. */
  publish(content: string): void {
    this.source = this.#configMap('web', content);
  }

  edit(spec: Partial<RolloutSpec>): void {
    const { metadata } = this.rollout;
    this.rollout = {
      ...this.rollout,
      metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 },
      spec: { ...this.rollout.spec, ...spec },
    };
  }

  add(name: string, labels: Record<string, string> = {}): void {
    const fresh = { ready: true, cordoned: false, wanted: null, assignedAt: undefined, rollout: undefined };
    this.nodes.set(name, { name, labels, ...fresh, active: null, lastKnownGood: null, trial: false, error: undefined, next: [] });
  }

  /** Lets time pass, and nodes do what they are about to do. */
  pass(ms: Millis): void {
    this.now += ms;
    for (const node of this.nodes.values()) {
      const due = node.next.filter(({ at }) => at <= this.now);
      node.next = node.next.filter(({ at }) => at > this.now);
      for (const one of due) one.do();
    }
  }

  /** Time until a node does something; ms. */
  nextIn(): Millis {
    const all = [...this.nodes.values()].flatMap(({ next }) => next.map(({ at }) => at - this.now));
    return Math.max(0, Math.min(Infinity, ...all));
  }

  rules(): Rules {
    return rulesOf(this.rollout);
  }

  readonly #followed = { fleet: new Fleet(), texts: new Map<string, string>() };

  /** The nodes as a controller has followed them: those that changed are told. */
  #follow(): Fleet {
    const { fleet, texts } = this.#followed;
    for (const name of texts.keys()) if (!this.nodes.has(name) && texts.delete(name)) fleet.delete(name);
    for (const [name, node] of this.nodes) {
      const view = this.view(node);
      const text = JSON.stringify(view);
      if (texts.get(name) === text) continue;
      texts.set(name, text);
      fleet.set(view);
    }
    return fleet;
  }

  /** What a controller sees that has just started. */
  freshFacts(): Facts {
    return this.facts(new Fleet([...this.nodes.values()].map((node) => this.view(node))));
  }

  /** What a controller sees now. */
  facts(fleet: Fleet = this.#follow()): Facts {
    return {
      rules: this.rules(),
      now: this.now,
      source: this.source,
      revisions: this.revisions,
      fleet,
      configs: { rejects: () => [], needsDrain: () => [] },
      payloadOf: () => undefined,
      drains: new Map(),
      window: { open: true, until: Infinity },
      gates: undefined,
    };
  }

  view(node: ModelNode): RolloutNode {
    const object = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: node.name, uid: `uid-${node.name}`, labels: { ...node.labels, [FATE_LABEL]: '' } },
      spec: { unschedulable: node.cordoned },
      status: { nodeInfo: { kubeletVersion: 'v1.36.3' }, conditions: [{ type: 'Ready', status: node.ready ? 'True' : 'False' }] },
    };
    const member = (source: Source | null) => (source === null ? undefined : { configMap: source });
    const annotations = {
      ...(node.rollout === undefined ? {} : { 'dkc.dev/rollout': node.rollout }),
      ...(node.assignedAt === undefined ? {} : { 'dkc.dev/rollout-assigned-at': new Date(node.assignedAt).toISOString() }),
    };
    const config = {
      apiVersion: 'dkc.dev/v1alpha1',
      kind: 'NodeConfig',
      metadata: { name: node.name, generation: 1, annotations },
      spec: node.wanted === null ? {} : { configMap: node.wanted },
      status: {
        observedGeneration: 1,
        agentVersion: '0.1.0',
        assigned: member(node.error === undefined || node.active === node.wanted ? node.active : node.active),
        active: member(node.active),
        lastKnownGood: member(node.lastKnownGood),
        ...(node.error === undefined ? {} : { error: node.error }),
        ...(node.trial ? { trial: { endsAt: '2026-03-01T01:00:00Z' } } : {}),
      },
    };
    return rolloutNode(object, config, serves);
  }

  /** What the API server does with one action of a plan. */
  act(action: Action): void {
    switch (action.do) {
      case 'create-revision': {
        const { metadata } = action.revision;
        if (this.revisions.some((one) => one.metadata.name === metadata.name)) return;
        const version = String((this.#version += 1));
        this.revisions = [
          ...this.revisions,
          { ...action.revision, metadata: { ...metadata, uid: `uid-${version}`, resourceVersion: version } },
        ];
        return;
      }
      case 'number-revision':
        this.revisions = this.revisions.map((one) =>
          one.metadata.name === action.revision.metadata.name
            ? {
                ...one,
                metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, 'dkc.dev/revision': String(action.number) } },
              }
            : one,
        );
        return;
      case 'retry-revision':
        return;
      case 'delete-revision':
        this.revisions = this.revisions.filter((one) => one.metadata.name !== action.revision.metadata.name);
        return;
      case 'assign':
        this.#assign(action.node.node, action.revision);
        return;
      case 'drain':
      case 'give-back':
        throw new Error(`nothing is drained here: ${action.do}`);
    }
  }

  #assign(name: string, revision: string | undefined): void {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    this.onAssign(name, revision);
    const spec = specOf(this.rules(), revision);
    const map = this.revisions.find(({ metadata }) => metadata.name === revision);
    const source = spec && { ...spec, uid: map?.metadata.uid ?? '', resourceVersion: map?.metadata.resourceVersion ?? '' };
    Object.assign(node, { wanted: source, assignedAt: this.now, rollout: 'web', error: undefined, next: [] });
    const soon = (ms: Millis, act: () => void): void => void node.next.push({ at: this.now + ms * (0.5 + this.random()), do: act });
    if (source === null || source.uid === node.lastKnownGood?.uid) {
      soon(3_000, () => Object.assign(node, { active: source, lastKnownGood: source, trial: false, ready: true }));
      return;
    }
    const fate = this.fateOf(map?.data?.['kubelet'] ?? '', name);
    const before = node.active;
    switch (fate) {
      case 'hangs':
        return;
      case 'rejects':
        return soon(2_000, () => Object.assign(node, { error: 'failed to validate config, see Kubelet log for details' }));
      case 'goes down':
        return soon(3_000, () => Object.assign(node, { active: source, trial: true, ready: false }));
      case 'condemns':
        soon(3_000, () => Object.assign(node, { active: source, trial: true }));
        return soon(60_000, () =>
          Object.assign(node, { active: before, trial: false, ready: true, error: 'failed trial, see dkc-agent log for details' }),
        );
      case 'trusts':
        soon(3_000, () => Object.assign(node, { active: source, trial: true, ready: true }));
        soon(120_000, () => node.wanted === source && Object.assign(node, { active: source, lastKnownGood: source, trial: false }));
    }
  }
}
