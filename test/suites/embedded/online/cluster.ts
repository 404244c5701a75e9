import { Bell } from './bell.ts';
import { type ApiServer, type ApiServerOptions } from '../../../../apiserver/server.ts';
import { configMaps, nodes, type KubeObject } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { apiServer } from '../../../support/embedded-api.ts';

export const NAMESPACE = 'dkc-system';
const MAX_NODES = 60;

export interface ConfigMapSpec {
  data?: Record<string, string>;
  annotations?: Record<string, string | null>;
  labels?: Record<string, string>;
  immutable?: boolean;
  namespace?: string;
}

/** An embedded API server with an admin, who uses a client of its own, and with an identity for every node that a test asks for. */
export class Cluster {
  readonly server: ApiServer;
  readonly admin: Client;
  /** Rung at every change of a Node, ConfigMap or Event. */
  readonly bell = new Bell();
  #given = 0;
  #over = false;

  private constructor(server: ApiServer) {
    this.server = server;
    this.admin = createClient({ server: server.url, origin: 'test', token: server.token, ca: { data: server.caPem } });
    for (const kind of ['/nodes', '/configmaps', '/events']) this.#listen(kind);
  }

  static async start(options: Partial<ApiServerOptions> = {}): Promise<Cluster> {
    const identities = Array.from({ length: MAX_NODES }, (_, n) => [`node-${n + 1}`, `node-${n + 1}-old`]).flat();
    const tokens = identities.map((token) => ({ token, user: `system:node:${token.replace('-old', '')}`, groups: ['system:nodes'] }));
    return new Cluster(await apiServer({ tokens, ...options }));
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.admin.close();
    await this.server.stop();
  }

  /** A name that no other test has; its token is the name. */
  nextName(): string {
    this.#given += 1;
    return `node-${this.#given}`;
  }

  async addNode(name: string): Promise<void> {
    await this.admin.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { nodeInfo: { kubeletVersion: 'v1.30.0' } },
    });
  }

  /** Makes it, or changes what is given. @returns it as stored */
  async configMap(
    name: string,
    { namespace = NAMESPACE, ...spec }: ConfigMapSpec,
  ): Promise<KubeObject & { metadata: { uid: string; resourceVersion: string } }> {
    const { annotations, labels, ...rest } = spec;
    const body = { ...rest, metadata: { name, namespace, ...(annotations ? { annotations } : {}), ...(labels ? { labels } : {}) } };
    const there = this.server.hooks.storage.get('/configmaps', `${namespace}/${name}`) !== undefined;
    const stored = there
      ? await this.admin.patch<KubeObject>(configMaps, { name, namespace }, body, { type: 'merge' })
      : await this.admin.create<KubeObject>(configMaps, body as KubeObject, { namespace });
    return stored as KubeObject & { metadata: { uid: string; resourceVersion: string } };
  }

  async removeConfigMap(name: string, namespace = NAMESPACE): Promise<void> {
    await this.admin.delete(configMaps, { name, namespace });
  }

  /** null clears. */
  async configSource(node: string, configSource: unknown): Promise<void> {
    await this.admin.patch(nodes, { name: node }, { spec: { configSource } }, { type: 'merge' });
  }

  async assign(node: string, configMap: string, kubeletConfigKey = 'kubelet', namespace = NAMESPACE): Promise<void> {
    await this.configSource(node, { configMap: { namespace, name: configMap, kubeletConfigKey } });
  }

  node(name: string): (KubeObject & { status?: { config?: unknown } }) | undefined {
    return this.server.hooks.storage.get('/nodes', name);
  }

  /** About this node, oldest first. */
  events(node: string): KubeObject[] {
    const version = (event: KubeObject): number => Number(event.metadata.resourceVersion);
    return this.server.hooks.storage
      .list('/events')
      .objects.filter((event) => (event['involvedObject'] as { name?: string } | undefined)?.name === node)
      .toSorted((a, b) => version(a) - version(b));
  }

  #listen(kind: string): void {
    this.server.hooks.storage.log(kind).onNext(() => {
      if (this.#over) return;
      this.bell.ring();
      this.#listen(kind);
    });
  }
}
