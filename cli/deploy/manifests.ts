import { manifests as manifestsFor, overlays, parts, type Overlay } from '../../deploy/manifests.ts';
import { credentials } from '../../deploy/rights.ts';
import { fine, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { nodeNames } from '../fleet/node-names.ts';
import { yamlText } from '../output/printable.ts';
import type { Args } from '../args/args.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** Kubernetes releases (1.N) that the manifests support. */
export const OLDEST_RELEASE = 20;
export const NEWEST_RELEASE = 37;

export const deployManifests: Command = {
  describe: `Prints what the API server needs for assignments, as YAML for kubectl apply: the namespace dkc-system, the CustomResourceDefinitions of NodeConfigs and rollouts, roles of agents, admins and the rollout controller, and an admission policy that keeps each node to its own NodeConfig.

Agents use the kubelet's own client certificate by default, and the roles are bound to the group system:nodes. With --nodes they are bound to each of these nodes by name: needed on servers older than 1.30, which have no admission policies, to keep a node from writing the status of other nodes. With --credentials=service-account each of the nodes gets a ServiceAccount with its name in dkc-system.

The roles dkc-assign, dkc-rollout and dkc-view are for people, dkc-rollout-controller is for dkc controllers run --controllers=rollout; they are bound to nobody. A user with dkc-assign or dkc-rollout can become root on every node.

With --image it also prints what runs in the cluster: the rollout controller, two pods of one Deployment with their ServiceAccount, bindings, disruption budget, network policy and flow control.

--overlay adds optional parts, comma-separated: scheduler (dkc-scheduler beside kube-scheduler, for pods that name it), sets (DaemonSets and StatefulSets taken over from kube-controller-manager, whose own controllers must be disabled first), node-installer (puts the package on nodes with the label dkc.dev/node-installer=true), monitoring (a ServiceMonitor, alert rules and a Grafana dashboard, for clusters with the CRDs of the Prometheus operator). --only prints one part alone.`,
  examples: [
    { run: 'dkc deploy manifests | kubectl apply -f -', what: 'everything, for the newest servers' },
    { run: 'dkc deploy manifests --kubernetes-version=1.20 | kubectl apply -f -', what: 'only what an API server 1.20 serves' },
    { run: 'dkc deploy manifests --image=registry.example/dkc:0.1.0 | kubectl apply -f -', what: 'and the rollout controller' },
    {
      run: 'dkc deploy manifests --image=registry.example/dkc:0.1.0 --overlay=scheduler,monitoring',
      what: 'and the scheduler, alerts and a dashboard',
    },
    { run: 'dkc deploy manifests --only=rbac --nodes=node-a,node-b', what: 'rights of two kubelets, restricted to their own names' },
    { run: 'dkc deploy manifests --only=rbac --credentials=service-account --nodes=node-a', what: 'a ServiceAccount and its rights' },
  ],
  flags: [
    { name: 'only', type: 'string', value: 'PART', choices: parts, text: 'print only this part', defaultText: 'all' },
    { name: 'overlay', type: 'string', value: 'A,B', offers: overlays, text: `also these: ${overlays.join(', ')}`, defaultText: 'none' },
    { name: 'image', type: 'string', value: 'IMAGE', text: 'run the rollout controller and overlays from this image', defaultText: 'none' },
    {
      name: 'kubernetes-version',
      type: 'string',
      value: 'VERSION',
      default: `1.${NEWEST_RELEASE}`,
      offers: ['1.20', '1.34', '1.35', '1.36', '1.37'],
      text: 'version of the API server: leaves out what it does not serve',
    },
    {
      name: 'credentials',
      type: 'string',
      value: 'WHOSE',
      choices: credentials,
      default: 'kubelet',
      text: 'credentials that the agents use',
    },
    {
      name: 'nodes',
      type: 'string',
      value: 'A,B',
      completes: 'node',
      text: 'grant rights to each of these nodes by name',
      defaultText: 'to the group system:nodes',
    },
    { name: 'list-pods', type: 'boolean', text: 'let ServiceAccounts list all pods, for trialHealth: pods' },
  ],
  positionals: [],
  async run(context, args) {
    const nodes = nodeNames(
      'deploy manifests',
      (args.text('nodes') ?? '').split(',').filter((word) => word.trim() !== ''),
    );
    const whose = credentials.find((one) => one === args.text('credentials')) ?? 'kubelet';
    const listsPods = args.on('list-pods');
    if (whose === 'service-account' && nodes.length === 0) throw usage('--credentials=service-account needs --nodes');
    if (whose === 'kubelet' && listsPods) throw usage('--list-pods is for --credentials=service-account; kubelets may list their own pods');
    const only = parts.find((one) => one === args.text('only'));
    const image = args.text('image')?.trim() || undefined;
    const wanted = overlaysOf(args);
    if (only !== undefined && wanted.length > 0) throw usage('--overlay adds to what is printed without --only; use one of them');
    const needing = [only, ...wanted].find((part) => part !== undefined && needsImage.has(part));
    if (needing !== undefined && image === undefined) throw usage(`--${only === needing ? 'only' : 'overlay'}=${needing} needs --image`);
    const objects = manifestsFor({
      release: releaseOf(args),
      credentials: whose,
      nodes,
      listsPods,
      image,
      overlays: wanted,
      ...(only ? { only } : {}),
    });
    context.stdout.write(manifestsText(objects));
    return fine;
  },
};

/** Parts that run as pods. */
const needsImage = new Set<string>(['controllers', 'scheduler', 'sets', 'node-installer']);

/** The requested overlays, each once, in their fixed order. */
function overlaysOf(args: Args): Overlay[] {
  const asked = (args.text('overlay') ?? '').split(',').map((word) => word.trim()).filter((word) => word !== ''); // prettier-ignore
  const unknown = asked.find((word) => !overlays.some((one) => one === word));
  if (unknown !== undefined) throw usage(`--overlay must name ${overlays.join(', ')}, comma-separated; there is no ${unknown}`);
  return overlays.filter((one) => asked.includes(one));
}

/** One YAML document per object. */
function manifestsText(objects: readonly KubeObject[]): string {
  return objects.map((object) => `---\n${yamlText(object)}`).join('');
}

/** N of `1.N`, `1.N.2` or `v1.N.2+vendor`; a newer release counts as the newest known. */
function releaseOf(args: Args): number {
  const [, minor] = /^v?1\.(\d{1,3})(?:\.\d{1,6})?(?:[-+].*)?$/.exec(args.text('kubernetes-version')?.trim() ?? '') ?? [];
  if (minor === undefined) throw usage('--kubernetes-version must be a version such as 1.36 or v1.36.3');
  if (Number(minor) < OLDEST_RELEASE) throw usage(`--kubernetes-version must be 1.${OLDEST_RELEASE} or newer`);
  return Math.min(Number(minor), NEWEST_RELEASE);
}

const usage = (problem: string): UsageError => new UsageError(`deploy manifests: ${problem}; see dkc deploy manifests --help`);
