import { identityOf } from '../../kube/api/ordinals.ts';
import { podName as nameOf, claimName, POD_INDEX_LABEL, POD_NAME_LABEL, refersTo } from './places.ts';
import type { Rules } from './rules.ts';
import type { Pvc, Pod } from './types.ts';

/** A claim of the set's namespace, by name. */
export type PvcLookup = (name: string) => Readonly<Pvc> | undefined;
type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** What must happen to claims before a pod can be made, or can start. */
export interface StoragePlan {
  create: Pvc[];
  /** Names of claims that are being deleted: what has them cannot be made, `pvc NAME is being deleted`. */
  terminating: string[];
}

/**
 * The claims of the pod with this ordinal, as they are made when they are missing: copies of the templates, found by what finds the pods. They have no
 * owner: who else owns them is the retention policy's to say. Their specs belong to the set: copy to change.
 */
export function pvcsOf(rules: Rules, ordinal: number): Pvc[] {
  return rules.claimTemplates.map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(metadata.name ?? '', rules.name, ordinal),
      namespace: rules.namespace,
      labels: { ...metadata.labels, ...rules.matchLabels },
      ...(metadata.annotations === undefined ? {} : { annotations: { ...metadata.annotations } }),
      ...(metadata.finalizers === undefined ? {} : { finalizers: [...metadata.finalizers] }),
    },
    ...(spec === undefined ? {} : { spec }),
  }));
}

/** A claim that exists is used as it is: its size, class and modes are not compared, as upstream. */
export function planStorage(rules: Rules, ordinal: number, lookup: PvcLookup): StoragePlan {
  const plan: StoragePlan = { create: [], terminating: [] };
  for (const pvc of pvcsOf(rules, ordinal)) {
    const { name = '' } = pvc.metadata;
    const found = lookup(name);
    if (found === undefined) plan.create.push(pvc);
    else if (found.metadata.deletionTimestamp !== undefined) plan.terminating.push(name);
  }
  return plan;
}

/**
 * Whether a claim is about to go with an earlier pod of this name: a new one would start with storage that is then taken from it. The garbage collector
 * deletes the claim, so no one has to act.
 * @param pod - the one that is there; undefined for one to be made
 */
export function isStale(rules: Rules, pod: Readonly<Pod> | undefined, ordinal: number, lookup: PvcLookup): boolean {
  if (rules.retention.whenScaled !== 'Delete') return false;
  const wanted = { apiVersion: 'v1', kind: 'Pod', name: nameOf(rules.name, ordinal) };
  return rules.claimTemplates.some(({ metadata }) =>
    lookup(claimName(metadata.name ?? '', rules.name, ordinal))?.metadata.ownerReferences?.some(
      (ref) => refersTo(ref, wanted) && ref.uid !== pod?.metadata.uid,
    ),
  );
}

/** Whether the pod is who it should be. Host name, subdomain and the label with its index are not looked at. */
export function hasIdentity(pod: Readonly<Pod>, rules: Rules): boolean {
  const { name = '', namespace, labels } = pod.metadata;
  return identityOf(name)?.parent === rules.name && namespace === rules.namespace && labels?.[POD_NAME_LABEL] === name;
}

/** Whether each claim template is a volume of the pod, with the pod's own claim. */
export function hasStorage(rules: Rules, pod: Readonly<Pod>, ordinal: number): boolean {
  const { claimTemplates } = rules;
  const volumes = pod.spec?.volumes ?? [];
  const many = claimTemplates.length > 4 ? new Map(volumes.toReversed().map((volume) => [volume.name, volume])) : undefined;
  return claimTemplates.every(({ metadata: { name = '' } }) => {
    const volume = many === undefined ? volumes.find((one) => one.name === name) : many.get(name);
    return volume?.persistentVolumeClaim?.claimName === claimName(name, rules.name, ordinal);
  });
}

/** The volumes of a pod: those of its claims take the place of others with their names. */
export function volumesOf(rules: Rules, ordinal: number, volumes: readonly Volume[] = []): Volume[] {
  const claimed = new Map(
    rules.claimTemplates.map(({ metadata: { name = '' } }): [string, Volume] => [
      name,
      { name, persistentVolumeClaim: { claimName: claimName(name, rules.name, ordinal) } },
    ]),
  );
  const others = volumes.filter(({ name }) => !claimed.has(name));
  return [...claimed.values(), ...others];
}

/**
 * The pod as it should be, to be written whole. Volumes are touched only where they are wrong: a server takes no other order of them either, and refuses
 * what is wrong there in any case.
 */
export function repaired(rules: Rules, pod: Readonly<Pod>, ordinal: number): Pod {
  const name = nameOf(rules.name, ordinal);
  const { metadata, spec } = pod;
  const labels = { ...metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal) };
  const named: Pod = { ...pod, metadata: { ...metadata, name, namespace: rules.namespace, labels } };
  if (hasStorage(rules, pod, ordinal)) return named;
  return { ...named, spec: { containers: [], ...spec, volumes: volumesOf(rules, ordinal, spec?.volumes) } };
}
