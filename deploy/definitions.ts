import type { KubeObject } from '../kube/api/object.ts';
import { nodeConfigDefinition, type NodeConfigDefinitionOptions } from './nodeconfig-crd.ts';
import { rolloutDefinition } from './rollout-crd.ts';

/** All definitions of `dkc.dev`. */
export function definitions(options: NodeConfigDefinitionOptions): KubeObject[] {
  return [nodeConfigDefinition(options), rolloutDefinition()];
}
