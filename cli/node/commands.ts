import type { Entry } from '../commands.ts';

/** Commands on the store of this node. */
export const nodeCommands: readonly Entry[] = [
  {
    name: 'status',
    summary: 'Show which configuration this node runs, since when, and why',
    group: 'On a node',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'Check for problems that keep dkc from working, with a remedy for each',
    group: 'On a node',
    load: async () => (await import('../doctor/command.ts')).doctor,
  },
  {
    name: 'checkpoints list',
    summary: 'List the configurations that this node keeps',
    group: 'On a node',
    load: async () => (await import('./checkpoints.ts')).checkpointsList,
  },
  {
    name: 'checkpoints show',
    summary: 'Print the files of a checkpoint',
    group: 'On a node',
    load: async () => (await import('./checkpoints.ts')).checkpointsShow,
  },
  {
    name: 'checkpoints diff',
    summary: 'Compare two checkpoints',
    group: 'On a node',
    load: async () => (await import('./checkpoints-diff.ts')).checkpointsDiff,
  },
  {
    name: 'checkpoints verify',
    summary: 'Check the store for corruption',
    group: 'On a node',
    load: async () => (await import('./checkpoints.ts')).checkpointsVerify,
  },
  {
    name: 'checkpoints prune',
    summary: 'Remove checkpoints that this node does not need',
    group: 'On a node',
    load: async () => (await import('./checkpoints.ts')).checkpointsPrune,
  },
  {
    name: 'rollback',
    summary: 'Roll back the assigned configuration on this node',
    group: 'On a node',
    load: async () => (await import('./rollback.ts')).rollback,
  },
  {
    name: 'retry',
    summary: 'Allow a condemned configuration to be tried again',
    group: 'On a node',
    load: async () => (await import('./rollback.ts')).retry,
  },
  {
    name: 'history',
    summary: "Show the history of this node's configuration",
    group: 'On a node',
    load: async () => (await import('./history.ts')).history,
  },
  {
    name: 'drill',
    summary: 'Rehearse the fallback, on copies or on this node',
    group: 'On a node',
    load: async () => (await import('./drill.ts')).drill,
  },
  {
    name: 'node-flags',
    summary: 'Flags that select the node and its settings',
    group: 'On a node',
    hidden: true,
    load: async () => (await import('./node-side.ts')).nodeFlagsTopic,
  },
];
