import { objectKey, type Key } from '../../kube/cache/contract.ts';
import type { Claim, Volume } from '../types.ts';
import { isFullyBound, isReservedFor, SELECTED_NODE, selectedNodeOf } from './claims.ts';
import type { VolumeDecision } from './contract.ts';

/** The assumed state of one object, and the pods it is assumed for. */
interface Assumption<T, Value> {
  readonly value: Value;
  readonly holders: Set<string>;
  /** The object with the assumption applied: made once for each cached state. */
  made?: { readonly from: Readonly<T>; readonly as: Readonly<T> };
}

/** Assumed claims and volumes, which override the cached ones. An assumption that the cache shows, or that can no longer come true, is dropped when read. */
export class Assumptions {
  readonly #volumes = new Map<string, Assumption<Volume, Readonly<Claim>>>();
  readonly #claims = new Map<Key, Assumption<Claim, { uid: string; node: string }>>();

  get size(): number {
    return this.#volumes.size + this.#claims.size;
  }

  add(holder: string, { reserve, provision }: VolumeDecision): void {
    for (const { volume, claim } of reserve) {
      const { name = '' } = volume.metadata;
      const there = this.#volumes.get(name);
      if (there !== undefined && there.value.metadata.uid === claim.metadata.uid) there.holders.add(holder);
      else this.#volumes.set(name, { value: claim, holders: new Set([holder]) });
    }
    for (const { claim, node } of provision) {
      const key = objectKey(claim);
      const { uid = '' } = claim.metadata;
      const there = this.#claims.get(key);
      if (there !== undefined && there.value.uid === uid && there.value.node === node) there.holders.add(holder);
      else this.#claims.set(key, { value: { uid, node }, holders: new Set([holder]) });
    }
  }

  /** Names of volumes and keys of claims with an assumption of this holder. */
  heldBy(holder: string): { volumes: readonly string[]; claims: readonly Key[] } {
    const held = (assumed: ReadonlyMap<string, { holders: ReadonlySet<string> }>): string[] =>
      [...assumed].flatMap(([key, { holders }]) => (holders.has(holder) ? [key] : []));
    return { volumes: held(this.#volumes), claims: held(this.#claims) };
  }

  drop(holder: string): void {
    for (const assumed of [this.#volumes, this.#claims])
      for (const [key, { holders }] of assumed) if (holders.delete(holder) && holders.size === 0) assumed.delete(key);
  }

  volume(seen: Readonly<Volume>): Readonly<Volume> {
    const { name = '' } = seen.metadata;
    const assumed = this.#volumes.get(name);
    if (assumed === undefined) return seen;
    const ref = seen.spec?.claimRef;
    // A claimRef in the cache takes precedence, except one for this claim without a UID, which may still be added.
    if (ref && (ref.uid || !isReservedFor(seen, assumed.value))) {
      this.#volumes.delete(name);
      return seen;
    }
    if (assumed.made?.from === seen) return assumed.made.as;
    const as: Volume = { ...seen, spec: { ...seen.spec, claimRef: claimRefTo(assumed.value) } };
    assumed.made = { from: seen, as };
    return as;
  }

  claim(seen: Readonly<Claim>): Readonly<Claim> {
    const key = objectKey(seen);
    const assumed = this.#claims.get(key);
    if (assumed === undefined) return seen;
    if (seen.metadata.uid !== assumed.value.uid || isFullyBound(seen) || selectedNodeOf(seen) !== undefined) {
      this.#claims.delete(key);
      return seen;
    }
    if (assumed.made?.from === seen) return assumed.made.as;
    const annotations = { ...seen.metadata.annotations, [SELECTED_NODE]: assumed.value.node };
    const as: Claim = { ...seen, metadata: { ...seen.metadata, annotations } };
    assumed.made = { from: seen, as };
    return as;
  }
}

/** A claimRef to this claim, with its UID. */
export function claimRefTo({ metadata }: Readonly<Claim>): NonNullable<NonNullable<Volume['spec']>['claimRef']> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}
