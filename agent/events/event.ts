import { rfc3339 } from '../../base/clock.ts';
import { apiPath, type MaybeSource, sameSource, sourceText } from '../checkpoint/source.ts';
import type { Finding } from '../config/contract.ts';
import { EVENT_NAMESPACE, type KubeObject } from '../../kube/api/object.ts';
import type { CondemnedRecord, JournalLine } from '../store/store.ts';
import { unreachable } from '../../base/errors.ts';

// The API accepts messages of at most 1,024 bytes; the log has the full text.
const MAX_MESSAGE_LENGTH = 1024;

export interface EventFacts {
  nodeName: string;
  /** Wall clock, ms. */
  nowMs: number;
  /** Makes the names of two events of one millisecond differ: 0 <= n < 1,000,000. */
  nanos: number;
}

/** Upstream's event of a change, member by member. */
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

/** The event of a transition in the journal. */
export function transitionEvent({ type, reason, message }: Transition, facts: EventFacts): KubeObject {
  return nodeEvent(type, reason, fitting([message]), facts);
}

/**
 * KubeletUnhealthy: the kubelet is unhealthy under a trusted config, which is not rolled back. KubeletConfigUnassignable: no object of this cluster can
 * assign a config to this node. KubeletConfigDrifted: the node runs something else than its agent wrote; type Normal when that is resolved.
 */
export type StateReason = 'KubeletUnhealthy' | 'KubeletConfigUnassignable' | 'KubeletConfigDrifted';

/** The event of a state of this node that is not a transition. */
export function stateEvent(type: 'Normal' | 'Warning', reason: StateReason, message: string, facts: EventFacts): KubeObject {
  return nodeEvent(type, reason, fitting([message]), facts);
}

/** The first message that fits; else the last one, cut. */
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
  const timestamp = rfc3339(nowMs);
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

/** A journal line that gets an event on the Node. */
export interface Transition {
  /** Index of the line in the journal. */
  index: number;
  type: 'Normal' | 'Warning';
  reason: 'KubeletConfigTrusted' | 'KubeletConfigCondemned' | 'KubeletConfigRolledBack' | 'KubeletConfigRetried';
  message: string;
}

/** Detail of a promotion that only gave trusted content another name: it gets no event. */
export const TRUSTED_ALREADY = 'its content was trusted already';

/**
 * The transitions of a journal that get an event, oldest first. A rollback gets its event at the boot after the condemnation or the `rolled-back` line.
 * @param condemned - the evidence for the messages, where it still exists
 */
export function transitionsOf(lines: readonly JournalLine[], condemned: readonly CondemnedRecord[]): Transition[] {
  /** The last condemnation or rollback that no boot has followed yet. */
  let left: JournalLine | undefined;
  return lines.flatMap((line, index): Transition[] => {
    const { event, source, detail } = line;
    const name = sourceText(source);
    switch (event) {
      case 'promoted':
        return detail === TRUSTED_ALREADY
          ? []
          : [{ index, type: 'Normal', reason: 'KubeletConfigTrusted', message: `Trusted ${name}: ${detail}` }];
      case 'condemned':
        left = line;
        return [
          {
            index,
            type: 'Warning',
            reason: 'KubeletConfigCondemned',
            message: `Condemned ${name}: ${detail}${evidenceOf(line, condemned)}`,
          },
        ];
      case 'rolled-back':
        left = line;
        return [];
      case 'retried':
        left = undefined;
        return [{ index, type: 'Normal', reason: 'KubeletConfigRetried', message: `Allowed to try ${name} again: ${detail}` }];
      case 'booted': {
        const from = left;
        left = undefined;
        if (!from || sameSource(from.source, source)) return [];
        const type = from.event === 'condemned' ? 'Warning' : 'Normal';
        return [
          {
            index,
            type,
            reason: 'KubeletConfigRolledBack',
            message: `Rolled back from ${sourceText(from.source)} to ${name}: ${from.detail}`,
          },
        ];
      }
      case 'assigned': // announced by sync, before the exit
      case 'refused':
      case 'reset':
      case 'damaged':
        return [];
      default:
        return unreachable(event);
    }
  });
}

function evidenceOf({ at, source }: JournalLine, condemned: readonly CondemnedRecord[]): string {
  const isSame = (record: CondemnedRecord, of: NonNullable<MaybeSource>): boolean =>
    record.at === at && record.uid === of.uid && record.resourceVersion === of.resourceVersion;
  const evidence = source === null ? undefined : condemned.find((record) => isSame(record, source))?.evidence;
  return evidence && evidence.length > 0 ? `; ${evidence.join('; ')}` : '';
}
