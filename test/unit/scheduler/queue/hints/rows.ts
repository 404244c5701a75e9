import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import type { ClusterEvent, NodeAspect } from '../../../../../scheduler/types.ts';
import type { NodeBuilder, PodBuilder } from '../../builders.ts';

/** A pod that was refused, and what happened since. */
export interface Row {
  readonly why: string;
  readonly of: PodBuilder;
  readonly event: ClusterEvent;
  /** The event may help the pod: it is tried again. */
  readonly yes: boolean;
  readonly short: readonly string[] | undefined;
}

export const row = (yes: boolean, why: string, of: PodBuilder, event: ClusterEvent, short?: string[]): Row => ({
  yes,
  why,
  of,
  event,
  short,
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
