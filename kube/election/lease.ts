import type { Millis } from '../../base/clock.ts';
import { ActionError } from '../../base/errors.ts';
import type { KubeObject } from '../api/object.ts';
import { isForbidden, isNotFound } from '../client/errors.ts';

export interface LeaseSpec {
  /** Who holds it; absent or '' when nobody does. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  /** RFC 3339 with microseconds, by the clock of the writer: for people. Nothing is decided by it. */
  acquireTime?: string | null;
  renewTime?: string | null;
  /** How often it was taken over. */
  leaseTransitions?: number | null;
  /** What newer servers and other programs keep there survives our writes. */
  [field: string]: unknown;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec | null;
}

export const holderOf = (lease: Lease): string => lease.spec?.holderIdentity ?? '';

export const transitionsOf = (lease: Lease): number => lease.spec?.leaseTransitions ?? 0;

/** How long the lease holds without a renewal, in ms. @param fallback - in ms, when the lease itself says nothing usable */
export function durationOf(lease: Lease, fallback: Millis): Millis {
  const seconds = lease.spec?.leaseDurationSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : fallback;
}

/**
 * What changes when the lease is renewed or created again under the same name, and only then: a label that somebody else sets changes nothing.
 * Two leases with equal signs are the same record.
 */
export const signOf = (lease: Lease): string => JSON.stringify([lease.metadata.uid ?? '', lease.spec ?? null]);

/** What a write puts into the lease. */
export interface Claim {
  identity: string;
  leaseDurationMs: Millis;
  /** Wall clock, ms. */
  nowMs: Millis;
}

/** A lease that was not there. */
export function firstLease(ref: { namespace: string; name: string }, claim: Claim): Lease {
  const now = microTime(claim.nowMs);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: ref.namespace, name: ref.name },
    spec: { ...claimed(claim), acquireTime: now, renewTime: now, leaseTransitions: 0 },
  };
}

/** `lease` in new hands. Its resourceVersion goes along: the write counts only if nothing happened since. */
export function takenLease(lease: Lease, claim: Claim): Lease {
  const now = microTime(claim.nowMs);
  const spec = { ...lease.spec, ...claimed(claim), acquireTime: now, renewTime: now, leaseTransitions: transitionsOf(lease) + 1 };
  return { ...lease, spec };
}

/**
 * `lease` renewed. The time in it is always later than the last one, whatever the clock says: the server takes an equal object for
 * no change at all, and others would take the lease as expired.
 */
export function renewedLease(lease: Lease, claim: Claim): Lease {
  const now = microTime(claim.nowMs);
  const last = lease.spec?.renewTime ?? '';
  return { ...lease, spec: { ...lease.spec, ...claimed(claim), renewTime: now > last ? now : afterMicroTime(last, now) } };
}

/** `lease` released: the next candidate does not have to wait. */
export function releasedLease(lease: Lease, nowMs: Millis): Lease {
  const now = microTime(nowMs);
  return { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now } };
}

function claimed({ identity, leaseDurationMs }: Claim): LeaseSpec {
  // Whole seconds is all that the API takes: rounded up, since others wait by it and we do not.
  return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000) };
}

/** `2026-03-01T00:00:00.123456Z`, as the API writes a MicroTime. */
export function microTime(ms: Millis): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1_000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}

function afterMicroTime(last: string, otherwise: string): string {
  const [, seconds, micros] = /^(.+)\.(\d{6})Z$/.exec(last) ?? [];
  if (seconds === undefined || micros === undefined) return otherwise;
  const ms = Date.parse(`${seconds}Z`);
  if (Number.isNaN(ms)) return otherwise;
  const next = Number(micros) + 1;
  return next < 1_000_000 ? `${seconds}.${String(next).padStart(6, '0')}Z` : microTime(ms + 1_000);
}

export type LeaseVerb = 'get' | 'create' | 'update';

/** What a person can do about a lease that cannot be read or written. `error` itself when it says so already. */
export function leaseTrouble(verb: LeaseVerb, { namespace, name }: { namespace: string; name: string }, error: unknown): unknown {
  const trouble = (hint: string): ActionError => new ActionError(`${verb} lease`, `${namespace}/${name}`, { hint, cause: error });
  if (isForbidden(error)) {
    return trouble(`the right to ${verb} leases of coordination.k8s.io in namespace ${namespace} is missing; grant get, create and update`);
  }
  if (verb === 'create' && isNotFound(error))
    return trouble(`there is no namespace ${namespace}; create it, or set another one with --leader-elect-resource-namespace`);
  return error;
}
