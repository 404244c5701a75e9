import { quantity } from '../../kube/api/quantity.ts';
import type { Claim, StorageClass, Volume } from '../types.ts';

/** Older than `spec.storageClassName`, and goes before it where both are. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
/** The claim and its volume agree: before that, `spec.volumeName` is a wish. */
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** The node for which a volume is to be made. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** The volume was chosen by a program: it may be freed again when its claim goes. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** A class whose volumes are made by people. */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** The class of a claim or a volume; '' for none. */
export function classNameOf({ metadata, spec }: Readonly<Claim> | Readonly<Volume>): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';
}

export function isFullyBound({ metadata, spec }: Readonly<Claim>): boolean {
  return (spec?.volumeName ?? '') !== '' && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** Whether volumes of this class wait for the first pod. */
export function isDelayed({ volumeBindingMode }: Readonly<StorageClass>): boolean {
  return volumeBindingMode === 'WaitForFirstConsumer';
}

export function isProvisioned({ provisioner }: Readonly<StorageClass>): boolean {
  return provisioner !== '' && provisioner !== NO_PROVISIONER;
}

export function selectedNodeOf({ metadata }: Readonly<Claim>): string | undefined {
  return metadata.annotations?.[SELECTED_NODE];
}

/** Whether the volume's claimRef is this claim. A claimRef without UID is for any claim of that name. */
export function isReservedFor({ spec }: Readonly<Volume>, { metadata }: Readonly<Claim>): boolean {
  const ref = spec?.claimRef;
  if (!ref || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false;
  return (ref.uid ?? '') === '' || ref.uid === metadata.uid;
}

const nanos = (amount: string | undefined): bigint | undefined => (amount === undefined ? undefined : quantity(amount)?.nanos);

/** In units of 10^-9 bytes; undefined when the claim does not say. */
export function requestedSize({ spec }: Readonly<Claim>): bigint | undefined {
  return nanos(spec?.resources?.requests?.['storage']);
}

const capacities = new WeakMap<Readonly<Volume>, bigint>();

/** In units of 10^-9 bytes. Parsed once: finding a volume for a claim compares all volumes. */
export function capacityOf(volume: Readonly<Volume>): bigint {
  let capacity = capacities.get(volume);
  if (capacity === undefined) capacities.set(volume, (capacity = nanos(volume.spec?.capacity?.['storage']) ?? 0n));
  return capacity;
}

/** In units of 10^-9 bytes. */
export const sizeOf = nanos;
