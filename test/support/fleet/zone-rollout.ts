import { configMap, KEY, NAMESPACE } from '../../../cli/demo/stage.ts';
import { type NodeConfigRollout, rollouts, type RolloutSpec } from '../../../controllers/rollout/types.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';

/** Makes a rollout of this name for the nodes of a zone, with a ConfigMap for it alone: all at once, as far as budgets let it. @param more - of its spec */
export async function createZoneRollout(client: Client, zone: string, more: Partial<RolloutSpec>): Promise<void> {
  await client.create(configMaps, { ...configMap('good'), metadata: { ...configMap('good').metadata, name: zone } });
  const spec: RolloutSpec = {
    nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': zone } },
    configMap: { namespace: NAMESPACE, name: zone, kubeletConfigKey: KEY },
    maxUnavailable: '100%',
    steps: [{ nodes: '100%' }],
    ...more,
  };
  await client.create<NodeConfigRollout>(rollouts, {
    apiVersion: 'dkc.dev/v1alpha1',
    kind: 'NodeConfigRollout',
    metadata: { name: zone },
    spec,
  });
}
