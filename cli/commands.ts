import { nodeCommands } from './node/commands.ts';
import { rolloutCommands } from './rollout/commands.ts';
import type { Command } from './command.ts';

/** One line of `dkc help`. The module of the command is loaded on first use. */
export interface Entry {
  /** Words after `dkc`: `checkpoints list`. */
  name: string;
  /** One line, beginning in upper case, no full stop. */
  summary: string;
  /** Section of `dkc help`. */
  group: 'On a node' | 'Configuration files' | 'Fleet' | 'Controllers' | 'Scheduler' | 'Other commands';
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
    load: async () => (await import('./agent/command.ts')).agentCommand,
  },
  ...nodeCommands,
  {
    name: 'why',
    summary: 'Show the value of each kubelet field on this node, and where it comes from',
    group: 'On a node',
    load: async () => (await import('./config/why.ts')).why,
  },
  {
    name: 'validate',
    summary: 'Validate a kubelet configuration for a kubelet version',
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
    name: 'sign',
    summary: 'Sign the files of a ConfigMap, or verify their signature',
    group: 'Configuration files',
    load: async () => (await import('./sign/command.ts')).sign,
  },
  {
    name: 'assign',
    summary: 'Assign the kubelet configuration in a ConfigMap to nodes',
    group: 'Fleet',
    load: async () => (await import('./fleet/assign.ts')).assign,
  },
  {
    name: 'unassign',
    summary: 'Return nodes to their local configuration',
    group: 'Fleet',
    load: async () => (await import('./fleet/assign.ts')).unassign,
  },
  {
    name: 'nodes',
    summary: 'Show assigned, active and last-known-good config per node',
    group: 'Fleet',
    load: async () => (await import('./fleet/nodes.ts')).nodesCommand,
  },
  ...rolloutCommands,
  {
    name: 'deploy manifests',
    summary: 'Print the manifests of dkc: CRDs, roles, and optionally the workloads in the cluster',
    group: 'Fleet',
    load: async () => (await import('./deploy/manifests.ts')).deployManifests,
  },
  {
    name: 'deploy install-node',
    summary: "Install the node's package out of this container image",
    group: 'Fleet',
    hidden: true,
    load: async () => (await import('./deploy/install-node.ts')).installNode,
  },
  {
    name: 'deploy hold',
    summary: 'Wait for SIGTERM, as a pod whose work is done',
    group: 'Fleet',
    hidden: true,
    load: async () => (await import('./deploy/install-node.ts')).hold,
  },
  {
    name: 'controllers run',
    summary: 'Run the DaemonSet, StatefulSet and rollout controllers',
    group: 'Controllers',
    load: async () => (await import('./controllers/command.ts')).controllersRun,
  },
  {
    name: 'why daemonset',
    summary: 'Explain, node by node, what a DaemonSet waits for',
    group: 'Controllers',
    load: async () => (await import('./controllers/why-daemonset.ts')).whyDaemonSetCommand,
  },
  {
    name: 'why statefulset',
    summary: 'Explain, pod by pod, what a StatefulSet waits for',
    group: 'Controllers',
    load: async () => (await import('./controllers/why-statefulset.ts')).whyStatefulSetCommand,
  },
  {
    name: 'scheduler run',
    summary: 'Schedule pods, beside kube-scheduler or in its place',
    group: 'Scheduler',
    load: async () => (await import('./scheduler/run.ts')).schedulerRun,
  },
  {
    name: 'scheduler config',
    summary: 'Validate a scheduler configuration and print it with all defaults',
    group: 'Scheduler',
    load: async () => (await import('./scheduler/config.ts')).schedulerConfig,
  },
  {
    name: 'why pod',
    summary: 'Explain why a pod is not scheduled',
    group: 'Scheduler',
    load: async () => (await import('./scheduler/why-pod.ts')).whyPodCommand,
  },
  {
    name: 'support-bundle',
    summary: 'Collect what a maintainer needs to understand a node or a fleet, without secrets',
    group: 'Other commands',
    load: async () => (await import('./support-bundle/command.ts')).supportBundle,
  },
  {
    name: 'demo',
    summary: 'Run a guided demo on this machine: under a minute, no root',
    group: 'Other commands',
    load: async () => (await import('./demo/command.ts')).demo,
  },
  {
    name: 'demo controllers',
    summary: 'Run a guided demo of the DaemonSet and StatefulSet controllers',
    group: 'Other commands',
    load: async () => (await import('./demo/cluster-demo.ts')).demoControllers,
  },
  {
    name: 'demo scheduler',
    summary: 'Run a guided demo of the scheduler: a rolling update on full nodes',
    group: 'Other commands',
    load: async () => (await import('./demo/cluster-demo.ts')).demoScheduler,
  },
  {
    name: '__kubelet',
    summary: 'Fake kubelet of the demo',
    group: 'Other commands',
    hidden: true,
    load: async () => (await import('./demo/kubelet.ts')).kubelet,
  },
  {
    name: 'apiserver',
    summary: 'Run an in-memory Kubernetes API, for demos and tests',
    group: 'Other commands',
    load: async () => (await import('./apiserver/command.ts')).apiserver,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell',
    group: 'Other commands',
    load: async () => (await import('./completion/command.ts')).completion,
  },
  {
    name: '__complete',
    summary: 'Completions, for the completion scripts',
    group: 'Other commands',
    hidden: true,
    load: async () => (await import('./completion/command.ts')).completeCommand,
  },
  {
    name: 'version',
    summary: 'Print the version of dkc',
    group: 'Other commands',
    load: async () => (await import('./help/help.ts')).version,
  },
];
