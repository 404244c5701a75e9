import { nodeCommands } from './node/commands.ts';
import type { Command } from './command.ts';

/** One line of `dkc help`. The module behind it is loaded when it is asked for. */
export interface Entry {
  /** Words after `dkc`: `checkpoints list`. */
  name: string;
  /** One line, beginning in upper case, no full stop. */
  summary: string;
  /** Section of `dkc help`. */
  group: 'On a node' | 'Configuration files' | 'Fleet' | 'Controllers' | 'Scheduler' | 'Around it';
  /** Works, but help and completion do not list it. */
  hidden?: boolean;
  load(): Promise<Command>;
}

/** Every command, in the order of `dkc help`. */
export const commands: readonly Entry[] = [
  {
    name: 'agent run',
    summary: "Run this node's agent, as its systemd unit does",
    group: 'On a node',
    load: async () => (await import('./agent-command.ts')).agentCommand,
  },
  ...nodeCommands,
  {
    name: 'why',
    summary: 'Say which value each field has on this node, and where it comes from',
    group: 'On a node',
    load: async () => (await import('./config/why.ts')).why,
  },
  {
    name: 'validate',
    summary: 'Judge a kubelet configuration as a kubelet would',
    group: 'Configuration files',
    load: async () => (await import('./config/validate.ts')).validate,
  },
  {
    name: 'diff',
    summary: 'Compare two kubelet configurations field by field',
    group: 'Configuration files',
    load: async () => (await import('./config/diff.ts')).diff,
  },
  {
    name: 'render',
    summary: 'Print a kubelet configuration with all defaults filled in',
    group: 'Configuration files',
    load: async () => (await import('./config/render.ts')).render,
  },
  {
    name: 'assign',
    summary: 'Tell nodes to use the kubelet configuration in a ConfigMap',
    group: 'Fleet',
    load: async () => (await import('./fleet/assign.ts')).assign,
  },
  {
    name: 'unassign',
    summary: 'Let nodes go back to their local configuration',
    group: 'Fleet',
    load: async () => (await import('./fleet/assign.ts')).unassign,
  },
  {
    name: 'nodes',
    summary: 'Show what every node is assigned, uses and trusts',
    group: 'Fleet',
    load: async () => (await import('./fleet/nodes.ts')).nodesCommand,
  },
  {
    name: 'controllers run',
    summary: 'Keep the pods of DaemonSets and StatefulSets, in place of kube-controller-manager',
    group: 'Controllers',
    load: async () => (await import('./controllers/command.ts')).controllersRun,
  },
  {
    name: 'why daemonset',
    summary: 'Say node by node what a DaemonSet waits for',
    group: 'Controllers',
    load: async () => (await import('./controllers/why-daemonset.ts')).whyDaemonSetCommand,
  },
  {
    name: 'why statefulset',
    summary: 'Say what a StatefulSet waits for, and how each of its pods stands',
    group: 'Controllers',
    load: async () => (await import('./controllers/why-statefulset.ts')).whyStatefulSetCommand,
  },
  {
    name: 'scheduler run',
    summary: 'Place pods on nodes, beside kube-scheduler or in its place',
    group: 'Scheduler',
    load: async () => (await import('./scheduler/run-command.ts')).schedulerRun,
  },
  {
    name: 'scheduler config',
    summary: "Judge a scheduler's configuration, and print what it comes to",
    group: 'Scheduler',
    load: async () => (await import('./scheduler/config-command.ts')).schedulerConfig,
  },
  {
    name: 'why pod',
    summary: 'Say why a pod has no node',
    group: 'Scheduler',
    load: async () => (await import('./scheduler/why-pod.ts')).whyPodCommand,
  },
  {
    name: 'demo',
    summary: 'Play the main job on this machine: under a minute, no root',
    group: 'Around it',
    load: async () => (await import('./demo/command.ts')).demo,
  },
  {
    name: '__kubelet',
    summary: 'Stand in for a kubelet in the demo',
    group: 'Around it',
    hidden: true,
    load: async () => (await import('./demo/kubelet.ts')).kubelet,
  },
  {
    name: 'apiserver',
    summary: 'Run a Kubernetes API in memory, for trying things out',
    group: 'Around it',
    load: async () => (await import('./apiserver/command.ts')).apiserver,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell',
    group: 'Around it',
    load: async () => (await import('./completion/command.ts')).completion,
  },
  {
    name: '__complete',
    summary: 'What the completion scripts ask',
    group: 'Around it',
    hidden: true,
    load: async () => (await import('./completion/hidden.ts')).completeCommand,
  },
  {
    name: 'version',
    summary: 'Print the version of dkc',
    group: 'Around it',
    load: async () => (await import('./version.ts')).version,
  },
];
