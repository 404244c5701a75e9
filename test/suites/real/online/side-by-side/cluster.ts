import { startControlPlane, type ControlPlane } from '../../../../support/real-parts/control-plane.ts';
import { Api } from '../../../systemd/inside/api.ts';
import { run } from '../../../systemd/inside/program.ts';
import { KEY, NAMESPACE, NODE_IP } from '../../inside/names.ts';
import { ADMIN, writePrivate } from '../../inside/release-cluster.ts';

/** What names one payload for good. */
export interface Identity {
  uid: string;
  resourceVersion: string;
}

/** A real API server 1.20.2 and its etcd on this machine. */
export class RealCluster {
  readonly plane: ControlPlane;
  readonly api = new Api(ADMIN);

  private constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  /** @param nodes - names that get a token of their own */
  static async start(nodes: readonly string[]): Promise<RealCluster> {
    // A registered kubelet takes no loopback address, and this machine has no other.
    run('ip', 'address', 'add', `${NODE_IP}/32`, 'dev', 'lo');
    const plane = await startControlPlane({ nodes });
    writePrivate(ADMIN, plane.kubeconfig());
    const cluster = new RealCluster(plane);
    await cluster.api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    return cluster;
  }

  /** Writes a kubeconfig with the node's own token: one for its kubelet, one for its agent. */
  credentials(node: string, ...paths: readonly string[]): void {
    for (const path of paths) writePrivate(path, this.plane.kubeconfig(this.plane.nodeToken(node)));
  }

  /** @returns uid and resourceVersion as they are now */
  async identity(name: string): Promise<Identity> {
    return (await this.api.send<{ metadata: Identity }>('GET', configMapPath(name))).metadata;
  }

  /** Creates a ConfigMap and assigns it to nobody. */
  async make(name: string, config: string): Promise<void> {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { [KEY]: config } };
    await this.api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, configMap);
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.plane.stop();
  }
}

const configMapPath = (name: string): string => `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`;
