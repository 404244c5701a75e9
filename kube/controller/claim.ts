import { asOneError, messageOf } from '../../base/errors.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Client, ObjectRef } from '../client/client.ts';
import { ApiError, isNotFound } from '../client/errors.ts';
import { adoptPatch, controllerOf, controllerRef, releasePatch } from './owners.ts';

/** keep: owned and selected; adopt: a selected orphan; release: owned but not selected; ignore: no action. */
export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/**
 * What an owner does with an object.
 *
 * | controller   | selected | owner deleting | object deleting | claim   |
 * | ------------ | -------- | -------------- | --------------- | ------- |
 * | another UID  | -        | -              | -               | ignore  |
 * | ours         | yes      | -              | -               | keep    |
 * | ours         | no       | no             | -               | release |
 * | ours         | no       | yes            | -               | ignore  |
 * | none         | yes      | no             | no              | adopt   |
 * | none         | any other                                   | ignore  |
 *
 * An object of another namespace is never adopted.
 * @param selected - the owner's selector (and name rule, where it has one) matches
 */
export function claimOf(owner: Readonly<KubeObject>, object: Readonly<KubeObject>, selected: boolean): Claim {
  const controller = controllerOf(object);
  const leaving = owner.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return 'ignore';
    if (selected) return 'keep';
    return leaving ? 'ignore' : 'release';
  }
  const near = (owner.metadata.namespace ?? '') === (object.metadata.namespace ?? '');
  return selected && near && !leaving && object.metadata.deletionTimestamp === undefined ? 'adopt' : 'ignore';
}

export interface ClaimPlan<T extends KubeObject> {
  keep: Readonly<T>[];
  adopt: Readonly<T>[];
  release: Readonly<T>[];
}

/** {@link claimOf} for all candidates, each group in their order. */
export function planClaim<T extends KubeObject>(
  owner: Readonly<KubeObject>,
  candidates: Iterable<Readonly<T>>,
  selects: (object: Readonly<T>) => boolean,
): ClaimPlan<T> {
  const plan: ClaimPlan<T> = { keep: [], adopt: [], release: [] };
  for (const object of candidates) {
    const claim = claimOf(owner, object, selects(object));
    if (claim !== 'ignore') plan[claim].push(object);
  }
  return plan;
}

/** Concurrent patches: enough for a set that adopts a thousand pods, few enough for other requests on the connection. */
const AT_ONCE = 16;
/** Failures named in one error; the others are counted. */
const NAMED = 5;

export interface Claimer {
  client: Pick<Client, 'get' | 'patch'>;
  owner: Readonly<KubeObject>;
  /** The owner's kind. */
  ownerKind: Resource;
  /** The candidates' kind. */
  kind: Resource;
  /** Called with each patched object, as the server returned it. */
  wrote?: (object: KubeObject) => void;
}

/**
 * Executes the plan: releases, then checks with the server once that the owner still exists, then adopts. A failed call does not stop the others.
 * @returns the owner's objects: kept ones from the cache, adopted ones from the server's responses
 * @throws the error of a failed call, or an AggregateError that names the first few. Decide nothing then: the owner's objects are not all known
 */
export async function claim<T extends KubeObject>(by: Claimer, plan: ClaimPlan<T>, signal: AbortSignal): Promise<Readonly<T>[]> {
  const errors: unknown[] = [];
  const attempt = async <R>(call: () => Promise<R>): Promise<R | undefined> => {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
      return undefined;
    }
  };
  await eachOf(plan.release, (object) => attempt(() => release(by, object, signal)));
  const mayAdopt = adoptionCheck(by, signal);
  const adopted = await eachOf(plan.adopt, (object) => attempt(() => adopt(by, object, mayAdopt, signal)));
  if (errors.length > 0) throw asOneError(errors, () => summary(errors));
  return [...plan.keep, ...adopted.filter((object) => object !== undefined)];
}

/**
 * Returns a check that asks the server, once for all its calls, whether the owner may still adopt: the cache may not show yet that the owner is deleted, or
 * terminating with its objects orphaned on purpose.
 * @throws (the check) an Error with upstream's text when the owner may not adopt, or when the request fails
 */
function adoptionCheck(
  { client, owner, ownerKind }: Pick<Claimer, 'client' | 'owner' | 'ownerKind'>,
  signal: AbortSignal,
): () => Promise<void> {
  let asked: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    const where = path(owner);
    const live = await client.get(ownerKind, refOf(owner), { signal }).catch((cause: unknown) => {
      throw new Error(`can't recheck DeletionTimestamp: ${messageOf(cause)}`, { cause });
    });
    const { uid = '', deletionTimestamp } = live.metadata;
    if (uid !== owner.metadata.uid) {
      throw new Error(`original ${ownerKind.kind} ${where} is gone: got uid ${uid}, wanted ${owner.metadata.uid ?? ''}`);
    }
    if (deletionTimestamp !== undefined) throw new Error(`${where} has just been deleted at ${deletionTimestamp}`);
  };
  return () => (asked ??= ask());
}

/** @returns the patched object; undefined when it no longer exists */
async function adopt<T extends KubeObject>(
  { client, owner, ownerKind, kind, wrote }: Claimer,
  object: Readonly<T>,
  mayAdopt: () => Promise<void>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    await mayAdopt();
  } catch (cause) {
    throw new Error(`can't adopt ${kind.kind} ${path(object)} (${object.metadata.uid ?? ''}): ${messageOf(cause)}`, { cause });
  }
  const patch = adoptPatch(object, controllerRef(owner, ownerKind));
  try {
    const adopted = await client.patch<T>(kind, refOf(object), patch, { type: 'strategic', signal });
    wrote?.(adopted);
    return adopted;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function release({ client, owner, kind, wrote }: Claimer, object: Readonly<KubeObject>, signal: AbortSignal): Promise<void> {
  const patch = releasePatch(object, owner.metadata.uid ?? '');
  try {
    const released = await client.patch(kind, refOf(object), patch, { type: 'strategic', signal });
    wrote?.(released);
  } catch (error) {
    // 422: the reference was already removed. (A successor with that name gives a 409, which fails the reconcile: the cache is stale.)
    if (!isNotFound(error) && !(error instanceof ApiError && error.code === 422)) throw error;
  }
}

/** `call` for every item, at most {@link AT_ONCE} at a time; results in the order of the items. */
async function eachOf<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, item] of left) results[at] = await call(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return results;
}

function refOf({ metadata: { name = '', namespace } }: Readonly<KubeObject>): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}

/** `namespace/name`, with the slash also where there is no namespace, as upstream writes it. */
function path({ metadata: { name = '', namespace = '' } }: Readonly<KubeObject>): string {
  return `${namespace}/${name}`;
}

function summary(errors: readonly unknown[]): string {
  const named = errors.slice(0, NAMED).map(messageOf);
  const more = errors.length - named.length;
  return `[${named.join(', ')}]${more > 0 ? ` and ${more} more` : ''}`;
}
