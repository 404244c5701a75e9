import { statefulSetController } from '../../../../../controllers/statefulset/controller.ts';
import type { Pvc, StatefulSet } from '../../../../../controllers/common/types.ts';
import type { Pace } from '../../../../support/simulated/sim-kubelets.ts';
import { workload } from '../../../../support/simulated/sets.ts';
import { SimWorld } from '../../../../support/simulated/sim-world.ts';
import { claimTemplate } from '../objects.ts';

/** The node that the pods of {@link statefulSet} are on from the start. */
export const NODE = 'a';

/** StatefulSet controllers in fake time. */
export function simWorld(pace: Pace): SimWorld {
  return new SimWorld({ pace, setup: (runtime) => [statefulSetController(runtime)] });
}

/** `default/NAME` with three pods and a claim for each. */
export function statefulSet(
  name: string,
  spec: Partial<NonNullable<StatefulSet['spec']>> = {},
  annotations: Record<string, string> = {},
): Record<string, unknown> {
  const own = { serviceName: name, replicas: 3, template: template(name, 'v1'), volumeClaimTemplates: [claimTemplate('data')] };
  return workload('StatefulSet', name, { ...own, ...spec }, annotations);
}

export function template(name: string, image: string): NonNullable<StatefulSet['spec']>['template'] {
  return { metadata: { labels: { app: name } }, spec: { nodeName: NODE, containers: [{ name: 'c', image }] } };
}

export function setsOf({ api }: Pick<SimWorld, 'api'>): StatefulSet[] {
  return api.hooks.storage.list('apps/statefulsets').objects as unknown as StatefulSet[];
}

export function claimsOf({ api }: Pick<SimWorld, 'api'>): Pvc[] {
  return api.hooks.storage.list('/persistentvolumeclaims').objects as unknown as Pvc[];
}
