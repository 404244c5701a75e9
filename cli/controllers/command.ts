import { kubeconfigFlag, leaseFlags, servingFlags } from '../process/settings.ts';
import { DEFAULT_NAMESPACE } from '../../controllers/rollout/observe.ts';
import { rolloutController } from '../../controllers/rollout/controller.ts';
import { controllerNames, controllersSettings, DEFAULT_CONTROLLERS, pageFlags } from './settings.ts';
import { daemonSetController } from '../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../controllers/statefulset/controller.ts';
import { fleetPage } from '../../controllers/page/page.ts';
import { runControllers } from './run.ts';
import type { Command, Flag } from '../command.ts';

/** Flags of `dkc controllers run`. */
export const controllersFlags: readonly Flag[] = [
  {
    name: 'controllers',
    type: 'string',
    value: 'LIST',
    default: DEFAULT_CONTROLLERS.join(','),
    offers: controllerNames,
    text: `controllers to run, comma-separated: ${controllerNames.join(', ')}`,
  },
  kubeconfigFlag,
  { name: 'namespace', type: 'string', value: 'NAME', text: 'only sets in this namespace', defaultText: 'all' },
  {
    name: 'object-selector',
    type: 'string',
    value: 'SELECTOR',
    text: 'only sets with these labels',
    defaultText: 'all',
  },
  { name: 'concurrent-syncs', type: 'number', value: 'N', default: 5, text: 'objects of each kind that are synced concurrently' },
  {
    name: 'daemonset-placement',
    type: 'string',
    value: 'WHO',
    choices: ['scheduler', 'controller'],
    default: 'scheduler',
    text: 'who binds DaemonSet pods to their nodes',
  },
  {
    name: 'rollout-namespace',
    type: 'string',
    value: 'NAME',
    default: DEFAULT_NAMESPACE,
    text: 'namespace of the ConfigMaps that rollouts copy and nodes are assigned',
  },
  {
    name: 'rollout-max-unavailable',
    type: 'string',
    value: 'N|P%',
    text: 'maximum number of nodes of the whole cluster that are unavailable at once, over all rollouts; at the limit no rollout touches another node',
    defaultText: 'only maxUnavailable of each rollout applies',
  },
  {
    name: 'rollout-prometheus-config',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'YAML file with credentials and authorities of the Prometheus servers that gates of rollouts ask',
    defaultText: 'they are asked without credentials',
  },
  { name: 'resync', type: 'duration', default: '0s', text: 'how often to sync every object again; 0 = only when something changes' },
  ...pageFlags,
  ...leaseFlags('dkc-controllers'),
  ...servingFlags(10_461),
];

export const controllersRun: Command = {
  describe: `Runs controllers in place of those of kube-controller-manager, which must run without them: --controllers=*,-daemonset,-statefulset. Of several processes the one that holds the lease works; the others stand by with synced caches.

The rollout controller applies kubelet configurations to nodes as NodeConfigRollouts specify (dkc rollout create). It does not run by default: it needs the CustomResourceDefinitions of dkc deploy manifests; until the API server serves them, the process waits and is not ready. With the rollout controller, the process that holds the lease also serves a read-only page of the fleet on --page-bind-address.

Prints one line of JSON when all caches have synced and the lease is held: ready, the metrics address, and the pid. Until then it retries whatever fails; /readyz and the log show what it waits for. Exits with 0 on SIGTERM and SIGINT, and with 1 when the lease is lost: restart it then.`,
  examples: [
    { run: 'dkc controllers run', what: 'in a pod, with its service account' },
    { run: 'dkc controllers run --kubeconfig=/etc/dkc/controllers.conf', what: 'as a systemd unit on a control-plane node' },
    { run: 'dkc controllers run --controllers=statefulset', what: 'only StatefulSets; kube-controller-manager keeps DaemonSets' },
    {
      run: 'dkc controllers run --controllers=rollout --leader-elect-resource-namespace=dkc-system --leader-elect-resource-name=dkc-rollout',
      what: 'only rollouts, with the lease of the Deployment of dkc deploy manifests',
    },
    { run: 'dkc controllers run --namespace=team-a --leader-elect-resource-name=dkc-team-a', what: 'one namespace, with its own lease' },
    { run: 'dkc controllers run --object-selector=example.com/by=dkc', what: 'only sets with this label' },
  ],
  flags: controllersFlags,
  positionals: [],
  run: (context, args) =>
    runControllers(context, controllersSettings(args), {
      daemonset: daemonSetController,
      statefulset: statefulSetController,
      rollout: rolloutController,
      page: fleetPage,
    }),
};
