import type { Entry } from '../commands.ts';

/** `dkc rollout ...`: rolls out one configuration to a fleet in steps. */
export const rolloutCommands: readonly Entry[] = [
  {
    name: 'rollout create',
    summary: 'Create a rollout, which applies a kubelet configuration to nodes step by step',
    group: 'Fleet',
    load: async () => (await import('./create.ts')).rolloutCreate,
  },
  {
    name: 'rollout status',
    summary: 'Show a rollout with its steps and nodes, or list all rollouts',
    group: 'Fleet',
    load: async () => (await import('./status.ts')).rolloutStatus,
  },
  {
    name: 'rollout watch',
    summary: 'Show the progress of a rollout until it ends',
    group: 'Fleet',
    load: async () => (await import('./status.ts')).rolloutWatch,
  },
  {
    name: 'rollout approve',
    summary: 'Approve the next step of a rollout',
    group: 'Fleet',
    load: async () => (await import('./approve.ts')).rolloutApprove,
  },
  {
    name: 'rollout pause',
    summary: 'Pause a rollout: no further node is changed',
    group: 'Fleet',
    load: async () => (await import('./spec-changes.ts')).rolloutPause,
  },
  {
    name: 'rollout resume',
    summary: 'Resume a paused rollout, or retry a stopped one',
    group: 'Fleet',
    load: async () => (await import('./spec-changes.ts')).rolloutResume,
  },
  {
    name: 'rollout abort',
    summary: 'Stop a rollout and roll its nodes back',
    group: 'Fleet',
    load: async () => (await import('./spec-changes.ts')).rolloutAbort,
  },
  {
    name: 'rollout undo',
    summary: 'Roll out an earlier revision again',
    group: 'Fleet',
    load: async () => (await import('./spec-changes.ts')).rolloutUndo,
  },
  {
    name: 'rollout history',
    summary: 'List the revisions of a rollout, or print one',
    group: 'Fleet',
    load: async () => (await import('./history.ts')).rolloutHistory,
  },
  {
    name: 'rollout diff',
    summary: 'Compare the configuration that nodes use now with a revision',
    group: 'Fleet',
    load: async () => (await import('./diff.ts')).rolloutDiff,
  },
];
