import { Bell } from './bell.ts';
import { nodeConfigs, type NodeConfigStatus } from '../../../../agent/status/node-config.ts';
import { nodeRights } from '../../../../deploy/rights.ts';
import { definitions } from '../../../../deploy/manifests.ts';
import type { ApiServer } from '../../../../apiserver/server.ts';
import { configMaps, nodes, type KubeObject } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { apiServer } from '../../../support/embedded-api.ts';

export const NAMESPACE = 'dkc-system';
const NODE_CONFIGS = 'dkc.dev/nodeconfigs';
const MAX_NODES = 60;

type StoredConfigMap = KubeObject & { metadata: { uid: string; resourceVersion: string } };

/** An embedded API server with an admin, who uses a client of its own, and with an identity for every node that a test asks for. */
export class Cluster {
  readonly server: ApiServer;
  readonly admin: Client;
  /** Rung at every change of a Node, ConfigMap or Event. */
  readonly bell = new Bell();
  /** The object by which it assigns and in which a node reports. */
  readonly carrier: 'node' | 'nodeconfig';
  #given = 0;
  #over = false;

  private constructor(server: ApiServer, carrier: 'node' | 'nodeconfig') {
    this.server = server;
    this.carrier = carrier;
    this.admin = createClient({ server: server.url, origin: 'test', token: server.token, ca: { data: server.caPem } });
    for (const kind of ['/nodes', '/configmaps', '/events', ...(carrier === 'node' ? [] : [NODE_CONFIGS])]) this.#listen(kind);
  }

  /** @param carrier - with `nodeconfig` a server of today, with the rights that dkc deploy manifests gives the nodes */
  static async start(carrier: 'node' | 'nodeconfig' = 'node'): Promise<Cluster> {
    const names = Array.from({ length: MAX_NODES }, (_, n) => `node-${n + 1}`);
    const tokens = names.map((token) => ({ token, user: `system:node:${token}`, groups: ['system:nodes'] }));
    if (carrier === 'node') return new Cluster(await apiServer({ tokens }), carrier);
    const server = await apiServer({ tokens, dynamicKubeletConfig: false, definitions: definitions({ cel: false }) });
    for (const object of nodeRights({ credentials: 'kubelet', nodes: [], listsPods: false })) server.add(object);
    return new Cluster(server, carrier);
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

  /** Makes it, or changes its data. @returns it as stored */
  async configMap(name: string, { data }: { data: Record<string, string> }): Promise<StoredConfigMap> {
    const body = { data, metadata: { name, namespace: NAMESPACE } };
    const isThere = this.server.hooks.storage.get('/configmaps', `${NAMESPACE}/${name}`) !== undefined;
    return isThere
      ? this.admin.patch<StoredConfigMap>(configMaps, { name, namespace: NAMESPACE }, body, { type: 'merge' })
      : this.admin.create<StoredConfigMap>(configMaps, body as KubeObject as StoredConfigMap, { namespace: NAMESPACE });
  }

  async assign(node: string, configMap: string): Promise<void> {
    await this.#assign(node, { namespace: NAMESPACE, name: configMap, kubeletConfigKey: 'kubelet' });
  }

  async unassign(node: string): Promise<void> {
    await this.#assign(node, null);
  }

  /** null clears. */
  async #assign(node: string, configMap: object | null): Promise<void> {
    const [ref, type] = [{ name: node }, 'merge' as const];
    const isThere = this.server.hooks.storage.get(NODE_CONFIGS, node) !== undefined;
    if (this.carrier === 'node') await this.admin.patch(nodes, ref, { spec: { configSource: configMap && { configMap } } }, { type });
    else if (isThere) await this.admin.patch(nodeConfigs, ref, { spec: { configMap } }, { type });
    else await this.admin.create(nodeConfigs, { metadata: ref, spec: configMap ? { configMap } : {} });
  }

  /** What a node reports, as `status.config` has it; undefined where it has reported nothing. */
  reported(name: string): { error?: string } | undefined {
    if (this.carrier === 'node') return this.node(name)?.status?.config as { error?: string } | undefined;
    const status = this.server.hooks.storage.get(NODE_CONFIGS, name)?.['status'] as NodeConfigStatus | undefined;
    if (!status) return undefined;
    const { assigned, active, lastKnownGood, error } = status;
    return {
      ...(assigned ? { assigned } : {}),
      ...(active ? { active } : {}),
      ...(lastKnownGood ? { lastKnownGood } : {}),
      ...(error === undefined ? {} : { error }),
    };
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
