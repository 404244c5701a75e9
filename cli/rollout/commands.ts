import type { Entry } from '../commands.ts';

/** `dkc rollout ...`: one configuration, taken through a fleet in steps. */
export const rolloutCommands: readonly Entry[] = [
  {
    name: 'rollout create',
    summary: 'Create a rollout: takes a kubelet configuration through nodes, step by step',
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
    summary: 'Show a rollout live, until its end',
    group: 'Fleet',
    load: async () => (await import('./status.ts')).rolloutWatch,
  },
  {
    name: 'rollout approve',
    summary: 'Let the next step of a rollout begin',
    group: 'Fleet',
    load: async () => (await import('./approve.ts')).rolloutApprove,
  },
  {
    name: 'rollout pause',
    summary: 'Touch no further node',
    group: 'Fleet',
    load: async () => (await import('./pause.ts')).rolloutPause,
  },
  {
    name: 'rollout resume',
    summary: 'Go on after a pause, or try a stopped revision again',
    group: 'Fleet',
    load: async () => (await import('./pause.ts')).rolloutResume,
  },
  {
    name: 'rollout abort',
    summary: 'Stop a rollout and take its nodes back',
    group: 'Fleet',
    load: async () => (await import('./undo.ts')).rolloutAbort,
  },
  {
    name: 'rollout undo',
    summary: 'Roll out an earlier revision again',
    group: 'Fleet',
    load: async () => (await import('./undo.ts')).rolloutUndo,
  },
  {
    name: 'rollout history',
    summary: 'List the revisions of a rollout, or print one',
    group: 'Fleet',
    load: async () => (await import('./history.ts')).rolloutHistory,
  },
  {
    name: 'rollout diff',
    summary: 'Compare what nodes use now with a revision, field by field',
    group: 'Fleet',
    load: async () => (await import('./diff.ts')).rolloutDiff,
  },
];
