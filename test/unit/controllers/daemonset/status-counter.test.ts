import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { unreachable } from '../../../../base/errors.ts';
import { HASH_LABEL } from '../../../../controllers/common/history/contract.ts';
import { noMemory } from '../../../../controllers/common/set-memory.ts';
import { isRelevant } from '../../../../controllers/daemonset/enqueue.ts';
import { BY_NODE, bySetAndNode } from '../../../../controllers/daemonset/observe.ts';
import { StatusCounter } from '../../../../controllers/daemonset/status-counter.ts';
import { targetNode } from '../../../../controllers/daemonset/pods.ts';
import { recount, type Summary } from '../../../../controllers/daemonset/summary.ts';
import { rulesOf } from '../../../../controllers/daemonset/rules.ts';
import type { DaemonSet, Node, Pod } from '../../../../controllers/common/types.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { daemonSet, node, NOW, pod, revisions } from './notation.ts';
import { decision } from '../../../../controllers/daemonset/placement/node-decision.ts';

// Names are few, so that changes meet each other.
const names = fc.constantFrom('a', 'b', 'c');
const revision = fc.constantFrom('new', 'old', 'older', '');
const marks = fc.constantFrom('', '', '', '!', '!?', '?', '-', '!-', '#', '#-', '$', '$-');

const podName = fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6');
const step = fc.oneof(
  fc.record({
    do: fc.constant('node' as const),
    node: fc.tuple(names, fc.constantFrom('', ':canary'), fc.constantFrom('', '', '!', '~', '^')).map((parts) => parts.join('')),
  }),
  fc.record({ do: fc.constant('node goes' as const), name: names }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pod' as const),
      name: podName,
      pod: fc
        .tuple(names, revision, marks, fc.nat(40), fc.nat(25))
        .map(([on, of, marks, age, ready]) => `${on}@${of}${marks}/${age}=${ready}`),
      as: fc.constantFrom('own', 'own', 'own', 'own', 'orphan', 'unselected', 'nowhere' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pod goes' as const), name: podName }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('time' as const), seconds: fc.constantFrom(1, 5, 10, 20) }) },
  fc.record({ do: fc.constant('set' as const), set: fc.nat(4) }),
  // The set is deleted; the next count starts from zero.
  fc.record({ do: fc.constant('forget' as const) }),
  // The first turn of a count, or the next one.
  fc.record({ do: fc.constant('turn' as const) }),
  // Its template is of a revision with another hash than before.
  fc.record({ do: fc.constant('hash' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const COUNT = { 'deprecated.daemonset.template.generation': '7' };

/** The same set again and again, as people change it. */
const states: DaemonSet[] = [
  of(2, daemonSet({ minReadySeconds: 20 })),
  of(3, daemonSet({ minReadySeconds: 20, maxUnavailable: 0, maxSurge: 1 })),
  of(4, daemonSet({ spec: { nodeSelector: { pool: 'canary' } } })),
  of(5, daemonSet({ minReadySeconds: 20, onDelete: true })),
  of(5, daemonSet({ minReadySeconds: 20, onDelete: true, annotations: COUNT })),
];

function of(generation: number, set: DaemonSet): DaemonSet {
  return { ...set, metadata: { ...set.metadata, generation } };
}

/** What is called `new` everywhere, or `old`. */
const histories = (['new', 'old'] as const).map((hash) =>
  revisions(daemonSet(), 'new').map((one) => ({ ...one, metadata: { ...one.metadata, labels: { app: 'x', [HASH_LABEL]: hash } } })),
);

/** Caches, and a counter that sees all that changes in them. */
class World {
  readonly nodes = new IndexedStore<Node>();
  readonly pods = new IndexedStore<Pod>();
  // Two nodes in a turn.
  readonly counter = new StatusCounter({ nodes: this.nodes, pods: this.pods }, () => 2);
  now = NOW;
  set: DaemonSet = daemonSet({ minReadySeconds: 20 });
  #hash = 0;

  constructor() {
    this.pods.index(BY_NODE, bySetAndNode);
  }

  do(step: Step): void {
    switch (step.do) {
      case 'node': {
        const after = node(step.node);
        const before = this.nodes.get(after.metadata.name ?? '');
        this.nodes.put(after);
        if (before === undefined || isRelevant({ before, after })) this.counter.nodeChanged(after.metadata.name ?? '');
        return;
      }
      case 'node goes':
        this.nodes.delete(step.name);
        return this.counter.nodeChanged(step.name);
      case 'pod': {
        const before = this.pods.get(`ns/${step.name}`);
        const after = podAs(step);
        this.pods.put(after);
        if (before !== undefined) this.#changed(before);
        return this.#changed(after);
      }
      case 'pod goes': {
        const before = this.pods.get(`ns/${step.name}`);
        this.pods.delete(`ns/${step.name}`);
        if (before !== undefined) this.#changed(before);
        return;
      }
      case 'time':
        this.now += step.seconds * 1_000;
        return;
      case 'set':
        this.set = states[step.set] ?? this.set;
        return;
      case 'forget':
        return this.counter.forget('ds-uid');
      case 'turn':
        return void this.#count();
      case 'hash':
        this.#hash = 1 - this.#hash;
        return;
      default:
        unreachable(step);
    }
  }

  #changed(pod: Readonly<Pod>): void {
    const owner = controllerOf(pod);
    if (owner !== undefined) this.counter.podChanged(owner.uid, targetNode(pod));
  }

  #count() {
    const rules = rulesOf(this.set, 'scheduler');
    const cluster = { nodes: this.nodes.list(), pods: this.pods.list(), revisions: histories[this.#hash] ?? [], now: this.now, pendingMs: 0, memory: noMemory }; // prettier-ignore
    const { facts } = recount(rules, cluster);
    const counted = this.counter.count(rules, facts.history.hash, decision(rules), this.now, facts.adoption.pods.adopt);
    return { facts, counted };
  }

  /** What the counter gives, in as many turns as it takes, and what a recount gives. */
  look(): { kept: unknown; counted: unknown } {
    const { facts, counted } = this.#count();
    if (counted === undefined) return this.look();
    const { summary, unselected } = counted;
    const { release } = facts.adoption.pods;
    return {
      kept: { ...saying(summary), unselected: namesOf(unselected) },
      counted: { ...saying(facts.summary), unselected: namesOf(release) },
    };
  }
}

function podAs({ name, pod: text, as }: Extract<Step, { do: 'pod' }>): Pod {
  const made = pod(text, name);
  const { metadata, spec } = made;
  // From before there were hashes.
  if (metadata.labels?.[HASH_LABEL] === undefined) metadata.labels = { app: 'x', 'pod-template-generation': '7' };
  if (as === 'unselected') return { ...made, metadata: { ...metadata, labels: { app: 'y' } } };
  if (as === 'nowhere') return { ...made, spec: { ...spec, containers: [], nodeName: '', affinity: {} } };
  const { ownerReferences: _, ...orphaned } = metadata;
  return as === 'orphan' ? { ...made, metadata: orphaned } : made;
}

const namesOf = (pods: readonly Readonly<Pod>[]): string[] => pods.map(({ metadata: { name = '' } }) => name).toSorted();

function saying(summary: Summary): Record<string, unknown> {
  const { counts, updateStates: standings, serving, renewed, hashes } = summary;
  const pendingNodes = summary.inOrder().map(({ nodePods: { node, pods }, fresh, old, ...rest }) => ({
    ...rest,
    node,
    pods: pods.map(({ metadata }) => metadata.name),
    fresh: fresh?.metadata.name,
    old: old?.metadata.name,
  }));
  return { counts, standings, serving, renewed, hashes: [...hashes].map(([hash, count]) => `${hash} ${count}`).toSorted(), pendingNodes };
}

test('a counter that sees every change gives what a recount of everything would', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.constantFrom(true, true, false)), { minLength: 30, maxLength: 60 }), (steps) => {
      const world = new World();
      for (const name of ['a', 'b', 'c']) world.do({ do: 'node', node: name });
      for (const [step, isLookedAt] of steps) {
        world.do(step);
        if (!isLookedAt) continue;
        const { kept, counted } = world.look();
        assert.deepEqual(kept, counted);
      }
    }),
    { numRuns: 250 },
  );
});

test('a set with many rules is counted on fewer nodes at once', () => {
  const nodes = new IndexedStore<Node>();
  for (let n = 0; n < 300; n++) nodes.put(node(`n${n}`));
  const counter = new StatusCounter({ nodes, pods: { indexed: () => [] } });
  const expressions = Array.from({ length: 480 }, (_, n) => ({ key: `key-${n}`, operator: 'Exists' }));
  const terms = { nodeSelectorTerms: [{ matchExpressions: expressions }] };
  const rules = rulesOf(daemonSet({ spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } } }), 'scheduler'); // prettier-ignore
  const decided: number[] = [];
  for (let counted; counted === undefined;) {
    decided.push(0);
    const decide = (of: Readonly<Node>) => (decided.push((decided.pop() ?? 0) + 1), decision(rules)(of));
    counted = counter.count(rules, 'new', decide, NOW);
  }
  assert.deepEqual(decided, [100, 100, 100]);
});
