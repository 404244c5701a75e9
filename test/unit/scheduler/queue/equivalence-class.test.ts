import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { equivalenceClassOf, type EquivalenceState, requirementsKey } from '../../../../scheduler/queue/equivalence-class.ts';
import { type FitError } from '../../../../scheduler/engine/rejections.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { createHints } from '../../../../scheduler/queue/hints.ts';
import { createQueue } from '../../../../scheduler/queue/queue.ts';
import { node, pod, type PodBuilder } from '../builders.ts';
import { near, required } from '../oracle/examples.ts';

/** @param lowest - the least important pod's priority that is on a node */
function facts(lowest: number, enabled = true): EquivalenceState {
  return {
    nominator: { nodeOf: () => undefined },
    held: { of: () => undefined },
    volumes: { key: () => '' },
    cluster: { lowestPriority: lowest },
    config: { preemption: { ...defaultSchedulerConfig.preemption, enabled } },
  };
}

const by = new Set<Rejector>(['NodeResourcesFit']);
const reasons = new Map([['Insufficient cpu', 2]]);
const error: FitError = { nodes: 2, reasons, everywhere: undefined, by, resolvable: 2 };

const row = (why: string, alike: boolean, b: PodBuilder, more: Partial<FitError> = {}, lowest = 0) => ({ why, alike, b, more, lowest });
const b = () => pod('b');
const indexed = b().labels({ index: '1' });
const anyNode = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
const pairs = [
  row('another name', true, b()),
  row('other requests', false, b().cpu('2')),
  row('another priority', false, b().priority(1)),
  row('a node affinity', false, b().affinity(anyNode)),
  row('a pod anti-affinity', false, b().affinity({ podAntiAffinity: required(near('db')) })),
  row('a host port', false, b().port(80)),
  row('other labels, and the room was short everywhere', true, indexed),
  row('other labels, and other pods had a say', false, indexed, { by: new Set([...by, 'InterPodAffinity']) }),
  row('other labels, and somebody is there who might make room', false, indexed, {}, -1),
  row('other labels, and nobody can make room that would help', true, indexed, { resolvable: 0 }, -1),
  row('the same, refused before nodes were asked', false, b(), { everywhere: 'why' }),
];
for (const { why, b, more, lowest, alike } of pairs)
  test(`pods are ${alike ? '' : 'not '}refused likewise with ${why}`, () => {
    const [one, other] = [pod('a'), b].map((made) => equivalenceClassOf(facts(lowest), podInfoOf(made.build()), { ...error, ...more }));
    assert.equal(one !== undefined && one === other, alike);
  });

test('what helps a pod with an extended resource of devices does not depend on one beside it that has claims of devices as well', () => {
  const gpu = (name: string) => pod(name).asks('example.com/gpu', '1');
  const claims: object = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }] };
  const queue = createQueue({
    now: () => 1_000_000,
    initialBackoffMs: 1,
    maxBackoffMs: 1,
    flushMs: 300_000,
    hints: createHints({ namespaceLabels: () => undefined }),
    prioritized: () => false,
    classOf: requirementsKey,
  });
  for (const one of [gpu('claims').spec(claims), gpu('plain')]) {
    queue.add(podInfoOf(one.build()));
    const popped = queue.pop();
    assert.ok(popped);
    queue.requeue(popped, { why: 'refused', by: new Set(['DynamicResources']) }, popped.info);
  }
  queue.enqueueOn({ kind: 'node-added', after: node('n').has('example.com/gpu', '1').build() });
  assert.deepEqual(
    [...queue.list()].map(({ pool, queued }) => [queued.info.name, pool]),
    [
      ['claims', 'unschedulable'],
      ['plain', 'backoff'],
    ],
  );
});

test('nobody stands for a pod that was promised a node, that room is kept for, or that has volumes', () => {
  const one = podInfoOf(pod('a').build());
  const room = {} as ReturnType<EquivalenceState['held']['of']>;
  for (const own of [{ nominator: { nodeOf: () => 'n' } }, { held: { of: () => room } }, { volumes: { key: () => 'claim' } }])
    assert.equal(equivalenceClassOf({ ...facts(0), ...own }, one, error), undefined);
});
