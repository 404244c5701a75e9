import type { Difference } from '../cluster/differential.ts';

const none: readonly RegExp[] = [];
/** What 1.20 does and this release does not any more; when it changed does not matter here. */
const CHANGED_BY = 36;
const told = 'a failed pod is deleted as any other, and told of so; later controllers have no event of its own either';

/**
 * Where what a story leaves behind differs on purpose from what kube-controller-manager leaves. Every line that differs is matched by a pattern of its
 * story here, and every pattern by a line: one that no longer shows fails too.
 */
export const differences: Readonly<Record<string, Difference>> = {
  'pod-failed': { until: CHANGED_BY, why: told, upstream: [/RecreatingFailedPod/], ours: none },
  'pod-succeeded': {
    until: CHANGED_BY,
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
    until: CHANGED_BY,
    why: 'a pod that waits for its claim gets it back, as with later controllers, and at once',
    upstream: [/^note 0 claims$/, /create Claim .*\(1\)$/],
    ours: [/^note 1 claims$/, /create Claim .*\(2\)$/, /^Claim data-web-0 /],
  },
  'on-delete': {
    until: 37,
    why: 'the update revision becomes the current one when all pods carry it, as with OnDelete upstream since 1.37',
    upstream: [/ status\.currentRevision = /],
    ours: [/ status\.(currentRevision|currentReplicas) = /],
  },
  'name-too-long': {
    until: CHANGED_BY,
    why: 'the status is written although no pod can be made, as later controllers do: it says which generation was looked at',
    upstream: none,
    ours: [/ status\.(collisionCount|currentRevision|observedGeneration|updateRevision) = /],
  },
};

/** What differs wherever it may: each shows in some story. */
export const everywhere: readonly Difference[] = [
  {
    why: 'pods carry their ordinal as a label, as with later controllers',
    until: 28,
    upstream: none,
    ours: [/^Pod \S+ metadata\.labels\.apps\.kubernetes\.io\/pod-index = "\d+"$/],
  },
];

/** An event begins with a capital in later releases: `Create Pod web-0 in StatefulSet web successful`. Ours are as before. */
export const inWordsOf = ({ minor }: { minor: number }): ((line: string) => string) =>
  minor < CHANGED_BY
    ? (line) => line
    : (line) =>
        line.replace(
          /^(Event .* of StatefulSet \S+: )(Create|Delete|Update) /,
          (_, head: string, verb: string) => `${head}${verb.toLowerCase()} `,
        );
