import type { PodInfo } from '../pod/pod-info.ts';

/**
 * A node as it would be without some of its pods, and whether a certain pod would fit there then. What other pods are promised (nominated, or kept room)
 * with at least its priority counts as if it were there. Nothing outside changes; throw it away afterwards.
 */
export interface WhatIf {
  readonly node: string;
  /** Pods on the node at the beginning, in no particular order. */
  readonly pods: readonly PodInfo[];
  remove(pod: PodInfo): void;
  /** Puts back what {@link remove} took. */
  add(pod: PodInfo): void;
  fits(): boolean;
  /** Why it does not fit as the node would be now, as users read it; a node counts once for each. Never empty where {@link fits} says no. */
  reasons(): readonly string[];
}
