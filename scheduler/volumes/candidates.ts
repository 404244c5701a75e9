import type { NodeSelector } from 'kubernetes-types/core/v1.js';
import { matchesLabels } from '../../kube/api/selector.ts';
import { readSelector } from '../pod/selectors.ts';
import type { Claim, Volume } from '../types.ts';
import { capacityOf, isReservedFor, requestedSize } from './claims.ts';
import type { Candidates } from './contract.ts';

const HOSTNAME = 'kubernetes.io/hostname';

type Sized = { volume: Readonly<Volume>; size: bigint };

/** The volumes that can serve a claim, as far as that is the same on all nodes. @param volumes - of the claim's class */
export function candidatesFor(claim: Readonly<Claim>, volumes: readonly Readonly<Volume>[]): Candidates {
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

/** Among equals by name, so that a second look comes to the same choice. */
function smallestFirst(a: Sized, b: Sized): number {
  if (a.size !== b.size) return a.size < b.size ? -1 : 1;
  return (a.volume.metadata.name ?? '') < (b.volume.metadata.name ?? '') ? -1 : 1;
}

function isOfTheKind({ spec: volume }: Readonly<Volume>, { spec: claim }: Readonly<Claim>): boolean {
  if ((volume?.volumeMode ?? 'Filesystem') !== (claim?.volumeMode ?? 'Filesystem')) return false;
  return (volume?.volumeAttributesClassName ?? '') === (claim?.volumeAttributesClassName ?? '');
}

function offersModes({ spec: volume }: Readonly<Volume>, { spec: claim }: Readonly<Claim>): boolean {
  return (claim?.accessModes ?? []).every((mode) => volume?.accessModes?.includes(mode));
}

/** Disks of machines are found by the machine's name: there are as many of them as machines, and each machine is asked. */
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

/** The names of the only machines that such a volume is on. @returns undefined where it does not go by these names */
function hostsOf(required: Readonly<NodeSelector> | undefined): ReadonlySet<string> | undefined {
  const hosts = new Set<string>();
  for (const { matchExpressions } of required?.nodeSelectorTerms ?? []) {
    const pin = matchExpressions?.find(({ key, operator }) => key === HOSTNAME && operator === 'In');
    if (pin === undefined) return undefined;
    for (const value of pin.values ?? []) hosts.add(value);
  }
  return hosts.size === 0 ? undefined : hosts;
}
