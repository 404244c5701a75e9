import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startControlPlane, type ControlPlane } from '../../../../support/real-parts/control-plane.ts';
import { realParts } from '../../../../support/real-parts/real-kubelet.ts';
import { Api } from '../../../systemd/inside/api.ts';
import { run } from '../../../systemd/inside/program.ts';
import { systemctl } from '../../../systemd/inside/systemctl.ts';
import { KEY, KUBECONFIG, KUBELET_KUBECONFIG, NAMESPACE, NODE, NODE_IP } from '../../inside/names.ts';
import { Cluster } from '../../inside/node.ts';
import { eventually } from '../../../../support/eventually.ts';

export const ADMIN_KUBECONFIG = '/etc/kubernetes/admin.conf';

/** What names one payload for good. */
export interface Identity {
  uid: string;
  resourceVersion: string;
}

/** A real API server and its etcd on this machine, and an admin who has kubectl 1.20.2. */
export class RealCluster extends Cluster {
  readonly plane: ControlPlane;
  readonly #kubectl: string;

  private constructor(plane: ControlPlane, kubectl: string) {
    super(new Api(ADMIN_KUBECONFIG));
    this.plane = plane;
    this.#kubectl = kubectl;
  }

  /** @param nodes - names that get a token of their own */
  static async start(nodes: readonly string[], { dynamicKubeletConfig }: { dynamicKubeletConfig: boolean }): Promise<RealCluster> {
    // A registered kubelet takes no loopback address, and this machine has no other.
    run('ip', 'address', 'add', `${NODE_IP}/32`, 'dev', 'lo');
    const { dir } = await realParts(['kubectl']);
    const plane = await startControlPlane({ nodes, dynamicKubeletConfig, apiServerArgs: ['--enable-admission-plugins=NodeRestriction'] });
    write(ADMIN_KUBECONFIG, plane.kubeconfig());
    const cluster = new RealCluster(plane, join(dir, 'kubectl'));
    await cluster.api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    return cluster;
  }

  /** Writes a kubeconfig with the node's own token: one for its kubelet, one for its agent. */
  credentials(node: string, ...paths: readonly string[]): void {
    for (const path of paths) write(path, this.plane.kubeconfig(this.plane.nodeToken(node)));
  }

  /** kubectl as an admin, or with a node's token. @throws where it does not end with 0 */
  kubectl(...args: string[]): string {
    return run(this.#kubectl, `--kubeconfig=${ADMIN_KUBECONFIG}`, ...args);
  }

  /** What kubectl says to a node's identity that asks for something which it may not. */
  refusedTo(node: string, ...args: string[]): string {
    const path = `/run/as-${node}.conf`;
    this.credentials(node, path);
    const { status, stdout, stderr } = spawnSync(this.#kubectl, [`--kubeconfig=${path}`, ...args], { encoding: 'utf8' });
    if (status === 0) throw new Error(`kubectl ${args.join(' ')} as ${node} was let: ${stdout}`);
    return stderr.trim();
  }

  /** As `kubectl get node NAME -o jsonpath={.status.config}` prints it. */
  configText(node: string = NODE): string {
    return this.kubectl('get', 'node', node, '-o', 'jsonpath={.status.config}');
  }

  /** @returns uid and resourceVersion as they are now */
  async identity(name: string): Promise<Identity> {
    const { metadata } = await this.api.send<{ metadata: Identity }>('GET', configMapPath(name));
    return { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
  }

  /** Creates a ConfigMap and assigns it to nobody. */
  async make(name: string, config: string): Promise<void> {
    await this.api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { [KEY]: config },
    });
  }

  /** Assigns a ConfigMap, be it there or not; null clears. */
  async point(node: string, name: string | null, kubeletConfigKey = KEY): Promise<void> {
    const configSource = name === null ? null : { configMap: { namespace: NAMESPACE, name, kubeletConfigKey } };
    await this.api.send('PATCH', `/api/v1/nodes/${node}`, { spec: { configSource } });
  }

  /** A merge patch of a ConfigMap. */
  async change(name: string, patch: object): Promise<void> {
    await this.api.send('PATCH', configMapPath(name), patch);
  }

  async remove(name: string): Promise<void> {
    await this.api.send('DELETE', configMapPath(name));
  }

  /** Waits until the kubelet has registered its Node. */
  async registered(node: string = NODE): Promise<void> {
    await eventually(`Node ${node}`, () => this.api.send<object>('GET', `/api/v1/nodes/${node}`).catch(() => undefined));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.plane.stop();
  }
}

const configMapPath = (name: string): string => `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
}

/** A real cluster whose one node is this machine, with agent and kubelet as after the installation, each with the node's own token. */
export async function onlineNode(gate: { dynamicKubeletConfig: boolean }, others: readonly string[] = []): Promise<RealCluster> {
  const cluster = await RealCluster.start([NODE, ...others], gate);
  cluster.credentials(NODE, KUBECONFIG, KUBELET_KUBECONFIG);
  systemctl('start', 'kubelet.service');
  await cluster.registered();
  return cluster;
}
