import { controllerOf } from '../../kube/controller/owners.ts';
import type { Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Claim, StorageClass } from '../types.ts';
import { candidatesFor, classNameOf, isDelayed, isFullyBound, isProvisioned, requestedSize, selectedNodeOf } from './claims.ts';
import type { Attachment, BoundClaim, DelayedClaim, StorageView, VolumeNeeds } from './contract.ts';
import { attachmentOfVolume, type ClaimName, driverOf, volumeSourcesOf } from './pod-volumes.ts';

const NEVER: ReadonlySet<string> = new Set();

/** @see VolumeRules.needs */
export function needsOf(pod: PodInfo, view: StorageView, disabled: ReadonlySet<string> = NEVER): VolumeNeeds | Rejection | undefined {
  const { claims: names, disks, inTree } = volumeSourcesOf(pod);
  if (names.length + disks.length + inTree.length === 0) return undefined;
  const strict = !disabled.has('VolumeBinding');
  const claims: Readonly<Claim>[] = [];
  let missing: string | undefined;
  for (const wanted of names) {
    const claim = view.claim(pod.namespace, wanted.name);
    const problem = strict ? problemOf(claim, wanted, pod) : undefined;
    if (problem !== undefined) return rejection(problem);
    if (claim === undefined) missing ??= wanted.name;
    else claims.push(claim);
  }
  const refused = strict ? undefined : refusedWithoutBinding(names, pod, view, disabled);
  if (refused !== undefined) return refused;
  const sorted = sortClaims(claims, view);
  if (strict && sorted.immediate > 0) return rejection('pod has unbound immediate PersistentVolumeClaims');
  // VolumeZone reads the volumes of all claims before any node is filtered.
  const lost = disabled.has('VolumeZone') ? undefined : sorted.bound.find(({ volume }) => volume === undefined);
  if (lost !== undefined) return rejection(`persistentvolume "${lost.claim.spec?.volumeName ?? ''}" not found`, 'VolumeZone');
  return {
    pod,
    claims,
    missing,
    ...sorted,
    exclusive: claims.filter(({ spec }) => spec?.accessModes?.includes('ReadWriteOncePod')),
    attachments: [...inTree, ...claims.flatMap((claim) => attachmentOf(claim, view) ?? [])],
    disks,
  };
}

/**
 * The attachment of a claim: that of its volume or, while it is unbound, an attachment of its class's driver under the claim's own name, since it will be
 * one more volume in any case.
 */
export function attachmentOf(claim: Readonly<Claim>, view: StorageView): Attachment | undefined {
  const name = claim.spec?.volumeName ?? '';
  const volume = name === '' ? undefined : view.volume(name);
  if (volume !== undefined) return attachmentOfVolume(volume);
  const made = view.storageClass(classNameOf(claim));
  if (made === undefined || !isProvisioned(made)) return undefined;
  // Cannot be equal to a real handle, because it contains a UID.
  return {
    driver: driverOf(made.provisioner),
    handle: `claim ${claim.metadata.uid ?? ''} ${claim.metadata.namespace ?? ''}/${claim.metadata.name ?? ''}`,
  };
}

/**
 * The checks that are left in a profile without VolumeBinding: VolumeRestrictions and VolumeZone read the pod's claims too, and VolumeZone also their volumes.
 * Neither reads claims of generic ephemeral volumes.
 */
function refusedWithoutBinding(
  names: readonly ClaimName[],
  { namespace }: PodInfo,
  view: StorageView,
  disabled: ReadonlySet<string>,
): Rejection | undefined {
  const named = names.filter(({ ephemeral }) => !ephemeral).map(({ name }) => ({ name, claim: view.claim(namespace, name) }));
  const lost = named.find(({ claim }) => claim === undefined);
  const reader = (['VolumeRestrictions', 'VolumeZone'] as const).find((plugin) => !disabled.has(plugin));
  if (lost !== undefined && reader !== undefined) return rejection(`persistentvolumeclaim "${lost.name}" not found`, reader);
  if (disabled.has('VolumeZone')) return undefined;
  for (const { claim } of named) {
    const problem = claim && zoneProblem(claim, view);
    if (problem !== undefined) return rejection(problem, 'VolumeZone');
  }
  return undefined;
}

/** Why the zones of a claim are unknown; undefined: they are known, or its volume is bound for the node of its first pod. */
function zoneProblem(claim: Readonly<Claim>, view: StorageView): string | undefined {
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName !== '') return view.volume(volumeName) === undefined ? `persistentvolume "${volumeName}" not found` : undefined;
  const name = classNameOf(claim);
  if (name === '') return 'PersistentVolumeClaim had no pv name and storageClass name';
  const storage = view.storageClass(name);
  if (storage === undefined) return `storageclass.storage.k8s.io "${name}" not found`;
  return isDelayed(storage) ? undefined : 'PersistentVolume had no name';
}

function problemOf(claim: Readonly<Claim> | undefined, { name, ephemeral }: ClaimName, pod: PodInfo): string | undefined {
  if (claim === undefined)
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`;
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (!ephemeral || controllerOf(claim)?.uid === pod.uid) return undefined;
  // The claim belongs to another pod and only happens to have this name: the pod must not get its data.
  return `PVC ${pod.namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
}

function sortClaims(
  claims: readonly Readonly<Claim>[],
  view: StorageView,
): { bound: BoundClaim[]; delayed: DelayedClaim[]; immediate: number } {
  const bound: BoundClaim[] = [];
  const delayed: DelayedClaim[] = [];
  let immediate = 0;
  for (const claim of claims) {
    const volume = claim.spec?.volumeName ?? '';
    const storage = view.storageClass(classNameOf(claim));
    if (isFullyBound(claim)) bound.push({ claim, volume: view.volume(volume) });
    // A claim that names a volume does not wait for a pod, whatever its class.
    else if (volume === '' && storage !== undefined && isDelayed(storage)) delayed.push(delayedClaim(claim, storage, view));
    else immediate++;
  }
  delayed.sort((a, b) => compare(requestedSize(a.claim) ?? 0n, requestedSize(b.claim) ?? 0n));
  return { bound, delayed, immediate };
}

function delayedClaim(claim: Readonly<Claim>, storage: Readonly<StorageClass>, view: StorageView): DelayedClaim {
  return {
    claim,
    class: storage,
    selectedNode: selectedNodeOf(claim),
    candidates: candidatesFor(claim, view.volumesOfClass(classNameOf(claim))),
  };
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function rejection(reason: string, plugin: Rejection['plugin'] = 'VolumeBinding'): Rejection {
  return { plugin, resolvable: false, reasons: [reason] };
}
