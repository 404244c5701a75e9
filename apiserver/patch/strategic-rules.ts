import type { MergeRule } from './strategic-patch.ts';

/*
 * Which lists of the built-in kinds merge, and by which key: the patchMergeKey and patchStrategy of the published API types (k8s.io/api, 1.20 to 1.34).
 * Lists that are not here are replaced whole; so are a Node's taints and a pod's tolerations, on purpose.
 */
const byName: MergeRule = { mergeKey: 'name' };
const byType: MergeRule = { mergeKey: 'type' };

const metadata: MergeRule = { fields: { finalizers: { set: true }, ownerReferences: { mergeKey: 'uid' } } };

const container: MergeRule = {
  mergeKey: 'name',
  fields: {
    env: byName,
    ports: { mergeKey: 'containerPort' },
    volumeMounts: { mergeKey: 'mountPath' },
    volumeDevices: { mergeKey: 'devicePath' },
  },
};

const podSpec: MergeRule = {
  fields: {
    containers: container,
    initContainers: container,
    ephemeralContainers: container,
    volumes: byName,
    imagePullSecrets: byName,
    hostAliases: { mergeKey: 'ip' },
    topologySpreadConstraints: { mergeKey: 'topologyKey' },
    resourceClaims: byName,
    schedulingGates: byName,
  },
};

const template: MergeRule = { fields: { metadata, spec: podSpec } };
const conditions: MergeRule = { fields: { conditions: byType } };
const claim: MergeRule = { fields: { metadata, status: conditions } };
const workload: MergeRule = { fields: { metadata, spec: { fields: { template } }, status: conditions } };

const rules: Readonly<Record<string, MergeRule>> = {
  Node: {
    fields: {
      metadata,
      spec: { fields: { podCIDRs: { set: true } } },
      status: { fields: { conditions: byType, addresses: byType } },
    },
  },
  Pod: {
    fields: { metadata, spec: podSpec, status: { fields: { conditions: byType, podIPs: { mergeKey: 'ip' } } } },
  },
  Namespace: claim,
  PersistentVolumeClaim: claim,
  PodDisruptionBudget: claim,
  Service: { fields: { metadata, spec: { fields: { ports: { mergeKey: 'port' } } }, status: conditions } },
  ServiceAccount: { fields: { metadata, secrets: byName } },
  DaemonSet: workload,
  StatefulSet: workload,
  ReplicaSet: workload,
  ReplicationController: workload,
  ControllerRevision: { fields: { metadata } },
};

/** The merge rules of a built-in kind. Kinds without lists of their own get those of their metadata. */
export function strategicRules(kind: string): MergeRule {
  return (Object.hasOwn(rules, kind) ? rules[kind] : undefined) ?? { fields: { metadata } };
}
