import { silentLog } from '../../base/log.ts';
import { nodes, type KubeObject } from '../../kube/api/object.ts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startApiServer, type ApiServer } from '../../apiserver/server.ts';
import { nodeRights } from '../../deploy/rights.ts';
import { definitions } from '../../deploy/manifests.ts';
import { connect } from '../connect/connect.ts';
import { fleetCarrier, type FleetCarrier } from '../fleet/carrier.ts';
import { Eye } from './eye.ts';
import { nodeFiles, Supervisor, type NodeFiles } from './supervisor.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Context } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** Observed state of the kubelet. */
export interface KubeletSeen {
  /** maxPods of the running kubelet; undefined while none runs. */
  maxPods: number | undefined;
  /** Number of crashes. */
  crashes: number;
}

/** All parts of the demo. */
export interface Stage extends AsyncDisposable {
  root: string;
  files: NodeFiles;
  server: ApiServer;
  client: Client;
  fleet: FleetCarrier;
  supervisor: Supervisor;
  kubelet: Eye<KubeletSeen>;
  node: Eye<FleetNode>;
}

/** Keys of agent.yaml that shorten the waits of the demo's agent. */
const pace = { trialDuration: '3s', unhealthyDeadline: '20s', maxKubeletExits: 3, syncInterval: '1s' };

/** Kinds that can carry the assignment in the demo. */
export const assignments = ['nodeconfig', 'node'] as const;
export type Assignment = (typeof assignments)[number];

/** Builds the cluster of one node under a temporary directory; agent and kubelet are not running yet. */
export async function buildStage(context: Context, dkc: readonly [string, string], assignment: Assignment): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'dkc-demo-'));
  const undo = new AsyncDisposableStack();
  undo.defer(() => rm(root, { recursive: true, force: true }));
  try {
    const files = nodeFiles(root);
    const token = randomBytes(16).toString('hex');
    const server = await startApiServer({
      clock: context.clock,
      random: context.random,
      log: context.log,
      tokens: [{ token, user: `system:node:${NODE}`, groups: ['system:nodes'] }],
      ...serverFor(assignment),
    });
    undo.defer(() => server.stop());
    if (assignment === 'nodeconfig') for (const object of nodeRights(rights)) server.add(object);
    const healthz = `127.0.0.1:${await freePort()}`;
    await writeNode(files, { adminKubeconfig: server.kubeconfig(), nodeKubeconfig: server.kubeconfig(token), healthz });
    const client = await connect({ kubeconfig: files.kubeconfig }, {});
    undo.defer(() => client.close());
    await client.create(nodes, node);
    // That its watch loses the API server is a part of the story, which tells it.
    const fleet = await fleetCarrier({ client, clock: context.clock, random: context.random, log: silentLog }, context.signal);
    const kubelet = new Eye<KubeletSeen>(context.clock);
    const seen: KubeletSeen = { maxPods: undefined, crashes: 0 };
    const see = (change: Partial<KubeletSeen>): void => kubelet.see({ ...Object.assign(seen, change) });
    const supervisor = new Supervisor(
      {
        files,
        dkc,
        agentFlags: [`--agent-config=${files.agentConfig}`],
        healthz,
        onUp: ({ maxPods }) => see({ maxPods }),
        onEnd: ({ result }) => see({ maxPods: undefined, crashes: seen.crashes + (result === 'success' ? 0 : 1) }),
      },
      context.clock,
    );
    undo.defer(() => supervisor.stop());
    const eye = new Eye<FleetNode>(context.clock);
    const over = new AbortController();
    const watching = fleet.watch([NODE], (_name, now) => now && eye.see(now), over.signal).catch(() => undefined);
    undo.defer(async () => {
      over.abort();
      await watching;
    });
    const built = undo.move();
    return { root, files, server, client, fleet, supervisor, kubelet, node: eye, [Symbol.asyncDispose]: () => built.disposeAsync() };
  } catch (error) {
    await undo.disposeAsync();
    throw error;
  }
}

/** An API server of the newest release that serves NodeConfigs, or an old one that stores spec.configSource of Nodes. */
const serverFor = (assignment: Assignment) =>
  assignment === 'node' ? { dynamicKubeletConfig: true } : { dynamicKubeletConfig: false, definitions: definitions({ cel: false }) };

/** As dkc deploy manifests prints them. */
const rights = { credentials: 'kubelet', nodes: [], listsPods: false } as const;

interface NodeContent {
  adminKubeconfig: string;
  nodeKubeconfig: string;
  healthz: string;
}

async function writeNode(files: NodeFiles, { adminKubeconfig, nodeKubeconfig, healthz }: NodeContent): Promise<void> {
  await mkdir(files.run);
  await mkdir(join(files.localConfig, '..'));
  const ofNode = join(files.run, 'kubeconfig');
  const settings = {
    nodeName: NODE,
    kubeconfig: ofNode,
    dynamicConfigDir: files.dynamicConfigDir,
    localConfig: files.localConfig,
    // The demo has no systemd: the supervisor compares the files and restarts the kubelet.
    kubeletUnit: '',
    kubeletHealthz: `http://${healthz}/healthz`,
    kubeletExits: files.exits,
    kubeletVersion: KUBELET_VERSION,
    policy: files.policy,
    metricsBindAddress: '',
    ...pace,
  };
  const policy = { apiVersion: 'dkc.dev/v1alpha1', kind: 'FieldPolicy', allow: ['safe', 'needs-drain'], overrides: true };
  const written: [string, string][] = [
    [files.kubeconfig, adminKubeconfig],
    [ofNode, nodeKubeconfig],
    [files.localConfig, localConfig],
    [files.agentConfig, stringify(settings)],
    [files.policy, stringify(policy)],
  ];
  for (const [path, text] of written) await writeFile(path, text, { mode: 0o600 });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The objects of the demo's cluster. */
export const NODE = 'demo-node';
export const NAMESPACE = 'dkc-system';
export const KEY = 'kubelet';
const KUBELET_VERSION = 'v1.30.0';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

export const localConfig = `${head}maxPods: 110\n`;

/** The configurations that the admin assigns, in order. */
export const payloads = {
  good: `${head}maxPods: 120\n`,
  invalid: `${head}maxPods: -5\nimageGCHighThresholdPercent: 120\n`,
  deadly: `${head}maxPods: 130\nkubeReservedCgroup: /kubelet.slice\nenforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {memory: 200Mi}\n`,
  later: `${head}maxPods: 140\n`,
} as const;
export type PayloadName = keyof typeof payloads;

export function configMap(name: PayloadName): KubeObject {
  // The admin overrides the policy, which rejects these dangerous fields by default.
  const annotations = name === 'deadly' ? { 'dkc.dev/allow': 'kubeReservedCgroup,enforceNodeAllocatable' } : {};
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE, annotations }, data: { [KEY]: payloads[name] } };
}

/** Allocatable resources, so that a scheduler and DaemonSets can place pods. */
const capacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '20Gi', pods: '110' };

export const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: NODE },
  // As a kubelet would report it, for users of kubectl.
  status: {
    capacity,
    allocatable: capacity,
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    nodeInfo: { kubeletVersion: KUBELET_VERSION },
  },
};
