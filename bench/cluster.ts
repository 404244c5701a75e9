import { startApiServer } from '../apiserver/server.ts';
import { realClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { realRandom } from '../base/random.ts';
import { configMaps, nodes, type KubeObject } from '../kube/api/object.ts';
import { createClient } from '../kube/client/http-client.ts';
import { KEY, kubeletConfig, NAMESPACE } from './node.ts';

interface NodeObject extends KubeObject {
  status?: { config?: { active?: { configMap?: { resourceVersion?: string } } } };
}

export interface Cluster extends AsyncDisposable {
  /** Kubeconfig of a node. */
  kubeconfig: string;
  /** Creates a Node and a ConfigMap of the same name, and assigns the ConfigMap to the Node. */
  addNode(name: string, maxPods: number): Promise<void>;
  /** @returns the new resourceVersion of the ConfigMap */
  edit(name: string, maxPods: number): Promise<string>;
  /** Waits until this version is active in the Node's status. @throws after half a minute */
  active(name: string, resourceVersion?: string): Promise<void>;
}

/** The embedded API server in this process, and actions of an admin on it. */
export async function benchCluster(): Promise<Cluster> {
  const server = await startApiServer({ clock: realClock, random: realRandom, log: silentLog });
  const client = createClient({ origin: 'the benchmark', server: server.url, ca: { data: server.caPem }, token: server.token });
  const data = (maxPods: number) => ({ [KEY]: kubeletConfig(maxPods) });
  return {
    kubeconfig: server.kubeconfig(),
    addNode: async (name, maxPods) => {
      const metadata = { name, namespace: NAMESPACE };
      await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: data(maxPods) }, metadata);
      const configSource = { configMap: { ...metadata, kubeletConfigKey: KEY } };
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { configSource } });
    },
    edit: async (name, maxPods) => {
      const edited = await client.patch(configMaps, { name, namespace: NAMESPACE }, { data: data(maxPods) }, { type: 'merge' });
      return edited.metadata.resourceVersion ?? '';
    },
    active: async (name, resourceVersion) => {
      for (const until = performance.now() + 30_000; performance.now() < until; await realClock.sleep(50)) {
        const node = await client.get<NodeObject>(nodes, { name });
        const version = node.status?.config?.active?.configMap?.resourceVersion;
        if (version !== undefined && (resourceVersion === undefined || version === resourceVersion)) return;
      }
      throw new Error(`${name} did not report its configuration within 30 s`);
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await server.stop();
    },
  };
}
