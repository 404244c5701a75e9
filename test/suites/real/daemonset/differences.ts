import type { Difference } from '../cluster/differential.ts';

/** What 1.20 does and this release does not any more; when it changed does not matter here. */
const CHANGED_BY = 36;

/** Where what a story leaves behind differs on purpose from what kube-controller-manager leaves. */
export const differences: Readonly<Record<string, Difference>> = {
  succeeded: {
    until: CHANGED_BY,
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
    until: CHANGED_BY,
    why: 'a failed pod that somebody keeps from going does not hold up its successor, as with later controllers',
    upstream: [/^note 1 pods while it is held$/],
    ours: [/^note 2 pods while it is held$/],
  },
  'hash-taken-away': {
    until: CHANGED_BY,
    why: 'a pod is also known by the generation of its template, as with later controllers: what lost its hash alone is not replaced',
    upstream: [/SuccessfulCreate .*\(3\)$/, /SuccessfulDelete/, /controller-revision-hash = /],
    ours: [/SuccessfulCreate .*\(2\)$/],
  },
  'orphaned-and-replaced': {
    from: CHANGED_BY,
    why: 'adopted pods of another template are replaced: later controllers take the generation of the template, 1 in every new set, for the revision',
    upstream: [
      /SuccessfulCreate .*\(3\)$/,
      / metadata\.labels\.controller-revision-hash = "<A>"$/,
      / spec\.containers\[0\]\.image = "app:1"$/,
    ],
    ours: [
      /SuccessfulCreate .*\(6\)$/,
      /SuccessfulDelete/,
      / metadata\.labels\.controller-revision-hash = "<B>"$/,
      / spec\.containers\[0\]\.image = "app:2"$/,
    ],
  },
};
