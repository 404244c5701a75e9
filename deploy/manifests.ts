import { adminRights, nodeRights, type NodeRightsOptions, rolloutRights, SYSTEM_NAMESPACE } from './rights.ts';
import { admissionPolicy } from './admission-policy.ts';
import { controllers, scheduler, sets } from './deployments.ts';
import { monitoring } from './monitoring.ts';
import { nodeInstaller } from './node-installer.ts';
import type { KubeObject } from '../kube/api/object.ts';
import { FIRST_WITH_POLICIES, LAST_WITH_CONFIG_SOURCE } from '../kube/api/release.ts';
import { nodeConfigDefinition, type NodeConfigDefinitionOptions } from './nodeconfig-crd.ts';
import { rolloutDefinition } from './rollout-crd.ts';

/** All definitions of `dkc.dev`. */
export function definitions(options: NodeConfigDefinitionOptions): KubeObject[] {
  return [nodeConfigDefinition(options), rolloutDefinition(options)];
}

/** Optional parts. */
export const overlays = ['scheduler', 'sets', 'node-installer', 'monitoring'] as const;
export type Overlay = (typeof overlays)[number];
/** Parts of the manifests. */
export const parts = ['crds', 'rbac', 'controllers', ...overlays] as const;
export type Part = (typeof parts)[number];

/** First release (1.N) that supports the CEL rules of our definitions. */
const FIRST_WITH_CEL = 28;

export interface ManifestOptions extends NodeRightsOptions {
  /** Absent: all. */
  only?: Part;
  /** Optional parts to add, in this order. @default none */
  overlays?: readonly Overlay[];
  /** Image of everything that runs in the cluster; undefined: without these parts. */
  image?: string | undefined;
  /** N of the API server's release 1.N. */
  release: number;
}

/** All that an API server needs for assignments, the rollout controller if `image` is set, and the overlays, in an order in which they can be created. */
export function manifests({ only, release, image, overlays: more = [], ...nodes }: ManifestOptions): KubeObject[] {
  const hasConfigSource = release <= LAST_WITH_CONFIG_SOURCE;
  const rights = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    ...nodeRights(nodes),
    ...adminRights(hasConfigSource),
    ...rolloutRights(),
    ...(release >= FIRST_WITH_POLICIES ? admissionPolicy : []),
  ];
  const crds = definitions({ cel: release >= FIRST_WITH_CEL });
  const inCluster = (make: (image: string, release: number) => KubeObject[]): KubeObject[] =>
    image === undefined ? [] : make(image, release);
  const all: Record<Part, () => readonly KubeObject[]> = {
    crds: () => crds,
    rbac: () => rights,
    controllers: () => inCluster(controllers),
    scheduler: () => inCluster(scheduler),
    sets: () => inCluster(sets),
    'node-installer': () => inCluster(nodeInstaller),
    monitoring: () => monitoring,
  };
  return only === undefined ? [...crds, ...rights, ...all.controllers(), ...more.flatMap((name) => all[name]())] : [...all[only]()];
}
