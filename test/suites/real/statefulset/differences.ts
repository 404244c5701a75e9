import type { Difference } from '../cluster/differential.ts';

const none: readonly RegExp[] = [];
const told = 'a failed pod is deleted as any other, and told of so; later controllers have no event of its own either';

/**
 * Where what a story leaves behind differs on purpose from what kube-controller-manager 1.20.2 leaves. Every line that differs is matched by a pattern of its
 * story here, and every pattern by a line: one that no longer shows fails too.
 */
export const differences: Readonly<Record<string, Difference>> = {
  'pod-failed': { why: told, upstream: [/RecreatingFailedPod/], ours: none },
  'pod-failed-parallel': { why: told, upstream: [/RecreatingFailedPod/], ours: none },
  'pod-succeeded': {
    why: 'a pod that succeeded is replaced, as later controllers do: nobody serves under its name else',
    upstream: [
      /SuccessfulCreate .*web-0 .*\(1\)$/,
      /behaviour = "succeeded"$/,
      /status\.phase = "Succeeded"$/,
      /status\.readyReplicas = 1$/,
    ],
    ours: [
      /SuccessfulCreate .*web-0 .*\(2\)$/,
      /SuccessfulDelete .*web-0 /,
      /^Pod web-0 status\.phase = "Running"$/,
      /status\.readyReplicas = 2$/,
      /^step \d+ (gone|made) web-0$/,
    ],
  },
  'claim-lost-under-a-pending-pod': {
    why: 'a pod that waits for its claim gets it back, as with later controllers, and at once',
    upstream: [/^note 0 claims$/, /create Claim .*\(1\)$/],
    // Seen while it was going, it is told of once more.
    ours: [/^note 1 claims$/, /create Claim .*\(2\)$|FailedUpdate .*pvc data-web-0 is being deleted$/, /^Claim data-web-0 /],
  },
  'on-delete': {
    why: 'the update revision becomes the current one when all pods carry it, as with OnDelete upstream since 1.37',
    upstream: [/ status\.currentRevision = /],
    ours: [/ status\.(currentRevision|currentReplicas) = /],
  },
  'name-too-long': {
    why: 'the status is written although no pod can be made, as later controllers do: it says which generation was looked at',
    upstream: none,
    ours: [/ status\.(collisionCount|currentRevision|observedGeneration|updateRevision) = /],
  },
};

/** What differs wherever it may: each shows in some story. */
export const everywhere: Difference = {
  why: 'pods carry their ordinal as a label, as with later controllers',
  upstream: none,
  ours: [/^Pod \S+ metadata\.labels\.apps\.kubernetes\.io\/pod-index = "\d+"$/],
};
