import { rfc3339 } from '../../base/clock.ts';
import { dnsSubdomainProblems } from '../api/names.ts';
import type { KubeObject, Resource } from '../api/object.ts';

export type EventType = 'Normal' | 'Warning';

/** The object of an event, as in `involvedObject`. */
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  name: string;
  /** '' for a cluster-scoped object. */
  namespace: string;
  uid: string;
  resourceVersion: string;
  /** A part of the object, such as `spec.containers{web}`. */
  fieldPath: string;
}

/** One occurrence of something worth an event. */
export interface EventOccurrence {
  /** The reporting component, such as `daemonset-controller`. */
  component: string;
  /** The process of that component, as `reportingInstance`. @default '' */
  instance?: string;
  type: EventType;
  /** One word, in CamelCase. */
  reason: string;
  /** For people. */
  message: string;
  /** What was done or tried, in one word; undefined where it equals the reason. */
  action?: string | undefined;
  regarding: ObjectReference;
}

/** One Event object and its count. */
export interface Series extends Readonly<Omit<EventOccurrence, 'message'>> {
  readonly name: string;
  readonly namespace: string;
  /** Combines similar occurrences, and shows the message of the last one. */
  readonly combined: boolean;
  message: string;
  count: number;
  /** Wall clock, ms. */
  readonly firstMs: number;
  lastMs: number;
  /** The count that the server is known to have; 0 while it has no such object. */
  sent: number;
  /** The count of a creation whose response was lost; 0 for none. */
  tried: number;
  /** Failures in a row. */
  failures: number;
}

/** Namespace of events about cluster-scoped objects. */
const HOMELESS = 'default';
const MAX_NAME_LENGTH = 253;
/** Bytes, the API's limit. */
const MAX_MESSAGE_LENGTH = 1024;

/**
 * @param resource - the object's kind; list items do not carry it
 * @throws {TypeError} when neither has a kind, or the object has no name
 */
export function referenceTo(object: Readonly<KubeObject>, resource?: Resource, fieldPath = ''): ObjectReference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = object.metadata;
  const apiVersion =
    resource === undefined ? object.apiVersion : [resource.group, resource.version].filter((part) => part !== '').join('/');
  const kind = resource?.kind ?? object.kind;
  if (kind === undefined || apiVersion === undefined || name === '')
    throw new TypeError('an event is about an object with a kind and a name');
  return { apiVersion, kind, name, namespace, uid, resourceVersion, fieldPath };
}

/** @param nanos - makes two names of one millisecond differ: 0 <= n < 1,000,000 */
export function newSeries(occurrence: EventOccurrence, combined: boolean, nowMs: number, nanos: number): Series {
  const { component, instance = '', type, reason, action, regarding } = occurrence;
  return {
    component,
    instance,
    type,
    reason,
    action,
    regarding,
    combined,
    name: eventName(regarding, nowMs, nanos),
    namespace: regarding.namespace === '' ? HOMELESS : regarding.namespace,
    message: '',
    count: 0,
    firstMs: nowMs,
    lastMs: nowMs,
    sent: 0,
    tried: 0,
    failures: 0,
  };
}

/** The object to create. core/v1, which every server serves and every kubectl reads; events.k8s.io shows the same object. */
export function eventObject(series: Series): KubeObject {
  const { name, namespace, component, instance = '', type, reason, action, message, regarding, count } = series;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: Object.fromEntries(Object.entries(regarding).filter(([, value]) => value !== '')),
    type,
    reason,
    ...(action === undefined ? {} : { action }),
    message,
    source: { component },
    count,
    firstTimestamp: rfc3339(series.firstMs),
    lastTimestamp: rfc3339(series.lastMs),
    reportingComponent: component,
    reportingInstance: instance,
  };
}

/** Patch for an existing Event object; idempotent. */
export function eventPatch({ count, lastMs, combined, message }: Series): object {
  return { count, lastTimestamp: rfc3339(lastMs), ...(combined ? { message } : {}) };
}

/** `message`, cut to the API's limit. */
export function cutMessage(message: string): string {
  // A UTF-16 code unit has at most three bytes, so most messages need not be encoded.
  if (message.length * 3 <= MAX_MESSAGE_LENGTH) return message;
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(MAX_MESSAGE_LENGTH));
  if (read === message.length) return message;
  const end = ' ...';
  return message.slice(0, new TextEncoder().encodeInto(message, new Uint8Array(MAX_MESSAGE_LENGTH - end.length)).read) + end;
}

/** `NAME.HEX`, HEX being the nanoseconds since 1970. The kind replaces a name that is not a DNS name. */
function eventName({ name, kind }: ObjectReference, nowMs: number, nanos: number): string {
  const hex = (BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(nanos)).toString(16);
  const cut = name.slice(0, MAX_NAME_LENGTH - hex.length - 1).replace(/[-.]+$/, '');
  const full = `${cut}.${hex}`;
  return dnsSubdomainProblems(full).length === 0 ? full : `${kind.toLowerCase()}.${hex}`;
}
