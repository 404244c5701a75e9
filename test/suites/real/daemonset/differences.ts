import type { Difference } from '../cluster/differential.ts';

/** Where what a story leaves behind differs on purpose from what kube-controller-manager leaves. */
export const differences: Readonly<Record<string, Difference>> = {
  succeeded: {
    why: 'a pod that succeeded is replaced, as later controllers do: nothing serves on its node else',
    upstream: [
      /^DaemonSet web status\.number/,
      /^Pod .* status\.phase = "Succeeded"$/,
      /behaviour = "succeeded"$/,
      /SuccessfulCreate .*\(2\)$/,
    ],
    ours: [
      /^DaemonSet web status\.number/,
      /^Pod .* status\.phase = "Running"$/,
      /SucceededDaemonPod/,
      /SuccessfulCreate .*\(3\)$/,
      /SuccessfulDelete/,
    ],
  },
  'failed-and-held': {
    why: 'a failed pod that somebody keeps from going does not hold up its successor, as with later controllers',
    upstream: [/^note 1 pods while it is held$/],
    ours: [/^note 2 pods while it is held$/],
  },
  'hash-taken-away': {
    why: 'a pod is also known by the generation of its template, as with later controllers: what lost its hash alone is not replaced',
    upstream: [/SuccessfulCreate .*\(3\)$/, /SuccessfulDelete/, /controller-revision-hash = /],
    ours: [/SuccessfulCreate .*\(2\)$/],
  },
};
