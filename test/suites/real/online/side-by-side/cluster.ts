import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startControlPlane, type ControlPlane } from '../../../../support/real-parts/control-plane.ts';
import { Api } from '../../../systemd/inside/api.ts';
import { run } from '../../../systemd/inside/program.ts';
import { KEY, NAMESPACE, NODE_IP } from '../../inside/names.ts';

const ADMIN_KUBECONFIG = '/etc/kubernetes/admin.conf';

/** What names one payload for good. */
export interface Identity {
  uid: string;
  resourceVersion: string;
}

/** A real API server 1.20.2 and its etcd on this machine. */
export class RealCluster {
  readonly plane: ControlPlane;
  readonly api = new Api(ADMIN_KUBECONFIG);

  private constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  /** @param nodes - names that get a token of their own */
  static async start(nodes: readonly string[]): Promise<RealCluster> {
    // A registered kubelet takes no loopback address, and this machine has no other.
    run('ip', 'address', 'add', `${NODE_IP}/32`, 'dev', 'lo');
    const plane = await startControlPlane({ nodes });
    write(ADMIN_KUBECONFIG, plane.kubeconfig());
    const cluster = new RealCluster(plane);
    await cluster.api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    return cluster;
  }

  /** Writes a kubeconfig with the node's own token: one for its kubelet, one for its agent. */
  credentials(node: string, ...paths: readonly string[]): void {
    for (const path of paths) write(path, this.plane.kubeconfig(this.plane.nodeToken(node)));
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.plane.stop();
  }
}

const configMapPath = (name: string): string => `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
}
