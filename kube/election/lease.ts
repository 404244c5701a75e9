import type { Millis } from '../../base/clock.ts';
import { ActionError } from '../../base/errors.ts';
import type { KubeObject } from '../api/object.ts';
import { isForbidden, isNotFound } from '../client/errors.ts';

export interface LeaseSpec {
  /** The holder; absent or '' where there is none. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  /** RFC 3339 with microseconds, by the writer's clock: for people. No decision depends on it. */
  acquireTime?: string | null;
  renewTime?: string | null;
  /** How often the holder changed. */
  leaseTransitions?: number | null;
  /** Fields of newer servers and other programs are preserved by writes. */
  [field: string]: unknown;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec | null;
}

export const holderOf = (lease: Lease): string => lease.spec?.holderIdentity ?? '';

export const transitionsOf = (lease: Lease): number => lease.spec?.leaseTransitions ?? 0;

/** How long the lease holds without a renewal, in ms. @param fallback - in ms, when the lease has no valid duration */
export function durationOf(lease: Lease, fallback: Millis): Millis {
  const seconds = lease.spec?.leaseDurationSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : fallback;
}

/**
 * A string that changes when the lease is renewed or recreated under its name, and only then: labels set by others do not change it. Two leases with equal
 * strings are the same record.
 */
export const signOf = (lease: Lease): string => JSON.stringify([lease.metadata.uid ?? '', lease.spec ?? null]);

/** The values that a write puts into the lease. */
export interface LeaseHolder {
  identity: string;
  leaseDurationMs: Millis;
  /** Wall clock, ms. */
  nowMs: Millis;
}

/** The lease to create where there is none. */
export function firstLease(ref: { namespace: string; name: string }, holder: LeaseHolder): Lease {
  const now = microTime(holder.nowMs);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: ref.namespace, name: ref.name },
    spec: { ...claimed(holder), acquireTime: now, renewTime: now, leaseTransitions: 0 },
  };
}

/** `lease` with a new holder. It keeps its resourceVersion: the write succeeds only if the lease has not changed since. */
export function takenLease(lease: Lease, holder: LeaseHolder): Lease {
  const now = microTime(holder.nowMs);
  const spec = { ...lease.spec, ...claimed(holder), acquireTime: now, renewTime: now, leaseTransitions: transitionsOf(lease) + 1 };
  return { ...lease, spec };
}

/**
 * `lease` renewed. Its renewTime is always later than the last one, even if the clock is not: the server ignores an update that changes nothing, and other
 * candidates would see the lease expire.
 */
export function renewedLease(lease: Lease, holder: LeaseHolder): Lease {
  const now = microTime(holder.nowMs);
  const last = lease.spec?.renewTime ?? '';
  return { ...lease, spec: { ...lease.spec, ...claimed(holder), renewTime: now > last ? now : afterMicroTime(last, now) } };
}

/** `lease` released: the next candidate does not have to wait. */
export function releasedLease(lease: Lease, nowMs: Millis): Lease {
  const now = microTime(nowMs);
  return { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now } };
}

function claimed({ identity, leaseDurationMs }: LeaseHolder): LeaseSpec {
  // The API takes whole seconds only. Rounded up, since other candidates wait this long, and the holder itself does not use it.
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

/** `error` with a hint for people where a permission or the namespace is missing; otherwise `error` itself. */
export function explainLeaseError(verb: LeaseVerb, { namespace, name }: { namespace: string; name: string }, error: unknown): unknown {
  const explained = (hint: string): ActionError => new ActionError(`${verb} lease`, `${namespace}/${name}`, { hint, cause: error });
  if (isForbidden(error)) {
    return explained(
      `the right to ${verb} leases of coordination.k8s.io in namespace ${namespace} is missing; grant get, create and update`,
    );
  }
  if (verb === 'create' && isNotFound(error))
    return explained(`there is no namespace ${namespace}; create it, or set another one with --leader-elect-resource-namespace`);
  return error;
}
