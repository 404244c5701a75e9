import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import type { ClusterEvent, NodeAspect } from '../../../../../scheduler/types.ts';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { pod, type NodeBuilder, type PodBuilder } from '../../builders.ts';

/** A pod that was refused, and what happened since. */
export interface Case {
  why: string;
  pod: PodBuilder;
  event: ClusterEvent;
  yes: boolean;
  short?: string[];
}

/** The event may help this pod, refused before: it is tried again. */
export const helps = (why: string, pod: PodBuilder, event: ClusterEvent, short?: string[]): Case => row(true, why, pod, event, short);
/** The event does not help this pod. */
export const fails = (why: string, pod: PodBuilder, event: ClusterEvent, short?: string[]): Case => row(false, why, pod, event, short);
const row = (yes: boolean, why: string, pod: PodBuilder, event: ClusterEvent, short?: string[]): Case => ({
  why,
  pod,
  event,
  yes,
  ...(short && { short }),
});

const info = (built: PodBuilder) => podInfoOf(built.build());
export const came = (built: PodBuilder): ClusterEvent => ({ kind: 'assigned-pod-added', after: info(built.on('n')) });
export const left = (built: PodBuilder): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: info(built.on('n')) });
export const turned = (before: PodBuilder, after: PodBuilder): ClusterEvent => ({
  kind: 'assigned-pod-updated',
  before: info(before.on('n')),
  after: info(after.on('n')),
});
export const newNode = (built: NodeBuilder): ClusterEvent => ({ kind: 'node-added', after: built.build() });
export const noNode = (built: NodeBuilder): ClusterEvent => ({ kind: 'node-deleted', before: built.build() });
export const changed = (aspect: NodeAspect, before: NodeBuilder, after: NodeBuilder): ClusterEvent => ({
  kind: 'node-updated',
  before: before.build(),
  after: after.build(),
  changed: new Set([aspect]),
});
export const namespace = (name: string, before: Record<string, string>, labels: Record<string, string>): ClusterEvent => ({
  kind: 'namespace-changed',
  before: { metadata: { name, labels: before } },
  after: { metadata: { name, labels } },
});

/** What most rows are about: pods of an app, and zones. */
export const a = () => pod('b').labels({ app: 'a' });
export const app = (name: string): LabelSelector => ({ matchLabels: { app: name } });
export const ZONE = 'topology.kubernetes.io/zone';

const hints = createHints({
  namespaceLabels: (name) => (name === 'tested' ? { stage: 'test' } : {}),
  isAntiKey: (key) => key === ZONE,
  addedAffinity: (profile) =>
    profile === 'picky' ? { nodeSelectorTerms: [{ matchExpressions: [{ key: 'good', operator: 'Exists' }] }] } : undefined,
  ignores: (_, resource) => resource === 'example.com/ignored',
});

/** A test for each row. */
export function testHints(tables: Partial<Record<Rejector, readonly Case[]>>): void {
  for (const [rejector, cases] of Object.entries(tables) as [Rejector, readonly Case[]][])
    for (const c of cases)
      test(`${rejector} ${c.yes ? 'may let a pod pass' : 'refuses still'} when ${c.why}`, () => {
        const hint = hints.get(rejector);
        assert.ok(hint);
        assert.equal(hint(info(c.pod), c.event, c.short && new Set(c.short)), c.yes);
      });
}
