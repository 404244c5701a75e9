import type { Transition } from './transitions.ts';
import { apiPath, type MaybeSource } from '../checkpoint/source.ts';
import type { Finding } from '../config/contract.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** Namespace upstream writes Node events to. */
export const EVENT_NAMESPACE = 'default';
// Longest message the API takes is 1,024 bytes; what is cut is in the log.
const MAX_MESSAGE_LENGTH = 1024;

export interface EventFacts {
  nodeName: string;
  /** Wall clock, ms. */
  nowMs: number;
  /** Makes two names of one millisecond differ: 0 <= n < 1,000,000. */
  nanos: number;
}

/** Upstream's event of a change (spec 10). */
export function changedEvent(to: MaybeSource, facts: EventFacts): KubeObject {
  const message =
    to === null
      ? 'Kubelet restarting to use local config'
      : `Kubelet restarting to use ${apiPath(to)}, UID: ${to.uid}, ResourceVersion: ${to.resourceVersion}, KubeletConfigKey: ${to.kubeletConfigKey}`;
  return nodeEvent('Normal', 'KubeletConfigChanged', message, facts);
}

/** Names every field and rule, never a value. */
export function refusedEvent(source: NonNullable<MaybeSource>, findings: readonly Finding[], facts: EventFacts): KubeObject {
  const head = `Refused ${apiPath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}, KubeletConfigKey: ${source.kubeletConfigKey}: `;
  const name = ({ field }: Finding): string => (field === '' ? 'document' : field);
  // Whole findings as long as they fit; then fields and rules; then field names alone, so that every field is named.
  const ways = [
    findings
      .map((one) => `${one.field === '' || one.message.startsWith(one.field) ? '' : `${one.field}: `}${one.message} [${one.rule}]`)
      .join('; '),
    findings.map((one) => `${name(one)} [${one.rule}]`).join('; '),
    [...new Set(findings.map(name))].join(', '),
  ];
  return nodeEvent('Warning', 'KubeletConfigRefused', fitting(ways.map((way) => head + way)), facts);
}

/** A change of this node, as its journal has it. */
export function transitionEvent({ type, reason, message }: Transition, facts: EventFacts): KubeObject {
  return nodeEvent(type, reason, fitting([message]), facts);
}

/** The kubelet does badly under a config that is trusted: said, not undone. */
export function suspectEvent(message: string, facts: EventFacts): KubeObject {
  return nodeEvent('Warning', 'KubeletUnhealthy', fitting([message]), facts);
}

/** The first that fits; else the last one, cut. */
function fitting(messages: readonly string[]): string {
  const whole = messages.find((message) => bytes(message) <= MAX_MESSAGE_LENGTH);
  if (whole !== undefined) return whole;
  const last = messages.at(-1) ?? '';
  let end = Math.min(last.length, MAX_MESSAGE_LENGTH - 4);
  while (bytes(last.slice(0, end)) > MAX_MESSAGE_LENGTH - 4) end -= 1;
  return `${last.slice(0, end)} ...`;
}

const bytes = (text: string): number => new TextEncoder().encode(text).length;

function nodeEvent(type: 'Normal' | 'Warning', reason: string, message: string, { nodeName, nowMs, nanos }: EventFacts): KubeObject {
  const unixNanos = BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(nanos);
  const timestamp = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${nodeName}.${unixNanos.toString(16)}`, namespace: EVENT_NAMESPACE },
    type,
    reason,
    message,
    involvedObject: { kind: 'Node', name: nodeName, uid: nodeName },
    source: { component: 'kubelet', host: nodeName },
    count: 1,
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    reportingComponent: '',
    reportingInstance: '',
  };
}
