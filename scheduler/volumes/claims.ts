import { quantity } from '../../kube/api/quantity.ts';
import type { Claim, CsiCapacity, PersistentVolume, StorageClass } from '../types.ts';
import type { NodeSelector } from 'kubernetes-types/core/v1.js';
import { matchesLabels } from '../../kube/api/selector.ts';
import { readSelector } from '../pod/selectors.ts';
import type { Candidates } from './contract.ts';

/** Older than `spec.storageClassName`, and takes precedence over it. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
/** The claim and its volume are bound to each other: before that, `spec.volumeName` is only a request. */
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** The node for which a volume is to be provisioned. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** The volume was chosen by a controller, not by a user: it may be released when its claim is deleted. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** Provisioner of a class whose volumes are created by hand. */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** The class of a claim or a volume; '' for none. */
export function classNameOf({ metadata, spec }: Readonly<Claim> | Readonly<PersistentVolume>): string {
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
export function isReservedFor({ spec }: Readonly<PersistentVolume>, { metadata }: Readonly<Claim>): boolean {
  const ref = spec?.claimRef;
  if (!ref || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false;
  return (ref.uid ?? '') === '' || ref.uid === metadata.uid;
}

/** A claimRef to this claim, with its UID. */
export function claimRefTo({ metadata }: Readonly<Claim>): NonNullable<NonNullable<PersistentVolume['spec']>['claimRef']> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}

const nanos = (amount: string | undefined): bigint | undefined => (amount === undefined ? undefined : quantity(amount)?.nanos);

/** In units of 10^-9 bytes; undefined if the claim requests no size. */
export function requestedSize({ spec }: Readonly<Claim>): bigint | undefined {
  return nanos(spec?.resources?.requests?.['storage']);
}

const capacities = new WeakMap<Readonly<PersistentVolume>, bigint>();

/** In units of 10^-9 bytes. Parsed once: finding a volume for a claim compares all volumes. */
export function capacityOf(volume: Readonly<PersistentVolume>): bigint {
  let capacity = capacities.get(volume);
  if (capacity === undefined) capacities.set(volume, (capacity = nanos(volume.spec?.capacity?.['storage']) ?? 0n));
  return capacity;
}

/** In units of 10^-9 bytes. */
export const sizeOf = nanos;

/** The largest volume that can be provisioned, if the driver publishes it. In units of 10^-9 bytes. */
export function largestOf({ capacity, maximumVolumeSize }: Readonly<CsiCapacity>): bigint | undefined {
  return nanos(maximumVolumeSize ?? capacity);
}

const HOSTNAME = 'kubernetes.io/hostname';

type Sized = { volume: Readonly<PersistentVolume>; size: bigint };

/** The volumes that can serve a claim, as far as that is the same on all nodes. @param volumes - of the claim's class */
export function candidatesFor(claim: Readonly<Claim>, volumes: readonly Readonly<PersistentVolume>[]): Candidates {
  const wanted = requestedSize(claim) ?? 0n;
  const selector = claim.spec?.selector ? readSelector(claim.spec.selector) : [];
  const fitting: Sized[] = [];
  for (const volume of volumes) {
    if (volume.metadata.deletionTimestamp !== undefined || !isOfTheKind(volume, claim)) continue;
    const size = capacityOf(volume);
    if (size < wanted) continue;
    if (isReservedFor(volume, claim)) return { reserved: volume, near: () => [volume] };
    if (volume.spec?.claimRef || volume.status?.phase !== 'Available') continue;
    if (selector === undefined || !matchesLabels(selector, volume.metadata.labels) || !offersModes(volume, claim)) continue;
    fitting.push({ volume, size });
  }
  return { reserved: undefined, near: nearness(fitting.sort(smallestFirst)) };
}

/** Among equals by name, so that the choice is always the same. */
function smallestFirst(a: Sized, b: Sized): number {
  if (a.size !== b.size) return a.size < b.size ? -1 : 1;
  return (a.volume.metadata.name ?? '') < (b.volume.metadata.name ?? '') ? -1 : 1;
}

function isOfTheKind({ spec: volume }: Readonly<PersistentVolume>, { spec: claim }: Readonly<Claim>): boolean {
  if ((volume?.volumeMode ?? 'Filesystem') !== (claim?.volumeMode ?? 'Filesystem')) return false;
  return (volume?.volumeAttributesClassName ?? '') === (claim?.volumeAttributesClassName ?? '');
}

function offersModes({ spec: volume }: Readonly<PersistentVolume>, { spec: claim }: Readonly<Claim>): boolean {
  return (claim?.accessModes ?? []).every((mode) => volume?.accessModes?.includes(mode));
}

/** Indexes local volumes by host name: there are as many of them as nodes, and each node is filtered. */
function nearness(sorted: readonly Sized[]): Candidates['near'] {
  const byHost = new Map<string, number[]>();
  const anywhere: number[] = [];
  const volumes = sorted.map(({ volume }) => volume);
  for (const [at, volume] of volumes.entries()) {
    const hosts = hostsOf(volume.spec?.nodeAffinity?.required);
    if (hosts === undefined) anywhere.push(at);
    else
      for (const host of hosts) {
        const here = byHost.get(host);
        if (here === undefined) byHost.set(host, [at]);
        else here.push(at);
      }
  }
  return (labels) => {
    const here = byHost.get(labels[HOSTNAME] ?? '') ?? [];
    const places = anywhere.length === 0 ? here : [...here, ...anywhere].sort((a, b) => a - b);
    return places.flatMap((at) => volumes[at] ?? []);
  };
}

/** The host names to which a volume is restricted. @returns undefined if its affinity does not require host names */
function hostsOf(required: Readonly<NodeSelector> | undefined): ReadonlySet<string> | undefined {
  const hosts = new Set<string>();
  for (const { matchExpressions } of required?.nodeSelectorTerms ?? []) {
    const pin = matchExpressions?.find(({ key, operator }) => key === HOSTNAME && operator === 'In');
    if (pin === undefined) return undefined;
    for (const value of pin.values ?? []) hosts.add(value);
  }
  return hosts.size === 0 ? undefined : hosts;
}
