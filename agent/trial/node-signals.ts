import type { Health } from './health.ts';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** What a Node and its Lease say of the kubelet. Times are ms since 1970, by the clock of their writer; NaN where nobody did. */
export interface NodeWord {
  /** Absent where no kubelet has ever reported. */
  ready?: { isTrue: boolean; isUnknown: boolean; why: string; heartbeatAt: Millis; sinceAt: Millis };
  /** Of the Lease; absent where it was not asked for, or cannot be read. */
  renewedAt?: Millis;
}

export interface ChangeTimes {
  /** When the trial began. */
  trialAt: Millis;
  /** When the kubelet was started last. */
  kubeletAt: Millis;
  now: Millis;
  /** The Node was Ready once since the trial began. @default false */
  wasReady?: boolean;
}

const MAX_WHY = 300;

export function nodeWord(node: KubeObject): NodeWord {
  const { conditions } = (node['status'] ?? {}) as { conditions?: unknown };
  const all = Array.isArray(conditions) ? (conditions as Record<string, unknown>[]) : [];
  const ready = all.find((one) => one?.['type'] === 'Ready');
  if (!ready) return {};
  const why = [ready['reason'], ready['message']].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return {
    ready: {
      isTrue: ready['status'] === 'True',
      isUnknown: ready['status'] === 'Unknown',
      why: why.slice(0, MAX_WHY),
      heartbeatAt: timeOf(ready['lastHeartbeatTime']),
      sinceAt: timeOf(ready['lastTransitionTime']),
    },
  };
}

export function renewedAt(lease: KubeObject): Millis {
  return timeOf(((lease['spec'] ?? {}) as { renewTime?: unknown }).renewTime);
}

/**
 * Whether the node does well by its own word: Ready, and said so by the kubelet that runs now. A node that was not Ready before the change either says
 * nothing about the config.
 * @returns undefined where it says nothing
 */
export function healthOfNode({ ready, renewedAt: renewed = Number.NaN }: NodeWord, times: ChangeTimes): Health | undefined {
  if (!ready) return undefined;
  if (!ready.isTrue) {
    // Written to the second, and cut: one that changed in the second of the change did so by it.
    const isOlder = Number.isNaN(ready.sinceAt) || ready.sinceAt < seconds(times.trialAt) || isOfClockBefore(ready, times);
    if (isOlder && times.wasReady !== true) return undefined;
    return { healthy: false, detail: `Node is not Ready: ${ready.why || 'no reason given'}` };
  }
  // A Node that nobody has ever renewed is not kept by a kubelet.
  if (Number.isNaN(ready.heartbeatAt) && Number.isNaN(renewed)) return undefined;
  return isSaidSince(times, ready.heartbeatAt, renewed)
    ? { healthy: true, detail: 'Node is Ready' }
    : { healthy: false, detail: 'Node has had no heartbeat since the kubelet started: the kubelet does not reach the API server' };
}

/** Whether a kubelet wrote this before the change, by a clock that was set back since. A controller writes Unknown, by its own clock. */
function isOfClockBefore({ isUnknown, sinceAt }: NonNullable<NodeWord['ready']>, { trialAt, now }: ChangeTimes): boolean {
  return !isUnknown && sinceAt > now && trialAt <= now;
}

/** Whether one of these was written by the kubelet that runs now. Both clocks are this node's; one that was set back since makes none of them comparable. */
export function isSaidSince({ kubeletAt, now }: Pick<ChangeTimes, 'kubeletAt' | 'now'>, ...times: readonly Millis[]): boolean {
  return kubeletAt > now || times.some((time) => time >= seconds(kubeletAt));
}

const seconds = (time: Millis): Millis => Math.floor(time / 1000) * 1000;

function timeOf(value: unknown): Millis {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/** What is kept of a pod of this node. */
export interface PodSeen {
  uid: string;
  /** `NAMESPACE/NAME` */
  name: string;
  /** When a kubelet first took it on; NaN where none did. */
  startedAt: Millis;
  /** Absent while it has not failed. `at`: when that was written, NaN where nothing tells. */
  failed?: { reason: string; at: Millis };
}

/** What a kubelet decides at its start about pods that it finds: by resources, labels, devices and sysctls. */
const REJECTIONS: ReadonlySet<string> = new Set(['NodeAffinity', 'UnexpectedAdmissionError', 'SysctlForbidden', 'TopologyAffinityError']);
const isRejection = (reason: string): boolean => reason.startsWith('OutOf') || REJECTIONS.has(reason) || reason === REJECTED;

/** One eviction happens on any day. */
const MIN_EVICTIONS = 3;
/** A kubelet decides about the pods that it finds within this time of its start, in ms. */
export const REJECTION_WINDOW_MS: Millis = 120_000;
const MAX_NAMED = 10;

export function podSeen({ metadata, ...rest }: KubeObject): PodSeen {
  const status = (rest['status'] ?? {}) as { phase?: unknown; reason?: unknown; startTime?: unknown };
  const seen = { uid: metadata.uid ?? '', name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`, startedAt: timeOf(status.startTime) };
  if (status.phase === 'Failed')
    return { ...seen, failed: { reason: typeof status.reason === 'string' ? status.reason : '', at: failedAt(metadata, status) } };
  const ended = endedByKubelet({ metadata, ...rest });
  return ended === undefined ? seen : { ...seen, failed: { reason: ended, at: failedAt(metadata, status) } };
}

/** What the kubelet ended and calls Succeeded. */
const REJECTED = 'Rejected';

/**
 * A kubelet of 1.27 and newer that rejects or evicts a pod calls it Succeeded, without a reason, where its containers answered SIGTERM with 0.
 * A pod whose containers are always started again succeeds in no other way, unless it is deleted or has a deadline.
 */
function endedByKubelet({ metadata, ...rest }: KubeObject): string | undefined {
  const [spec, status] = [record(rest['spec']), record(rest['status'])];
  if (status['phase'] !== 'Succeeded' || spec['restartPolicy'] !== 'Always') return undefined;
  if (metadata.deletionTimestamp !== undefined || spec['activeDeadlineSeconds'] !== undefined) return undefined;
  const isDisrupted = records(status['conditions']).some((one) => one['type'] === 'DisruptionTarget' && one['status'] === 'True');
  return isDisrupted ? 'Evicted' : REJECTED;
}

/**
 * What the restarted kubelet made of the pods that ran before the change.
 * @param alive - uids of pods that were seen since the trial began and had not failed then
 */
export function healthOfPods(pods: readonly PodSeen[], alive: ReadonlySet<string>, { trialAt, kubeletAt }: ChangeTimes): Health {
  const isHers = ({ uid, startedAt, failed }: PodSeen): boolean =>
    failed !== undefined &&
    startedAt < trialAt &&
    (alive.has(uid) || (failed.at >= kubeletAt - 1000 && failed.at <= kubeletAt + REJECTION_WINDOW_MS));
  const failed = pods.filter(isHers);
  const rejected = failed.filter((pod) => isRejection(pod.failed?.reason ?? ''));
  const evicted = failed.filter((pod) => pod.failed?.reason === 'Evicted');
  const bad = [...rejected, ...(evicted.length >= MIN_EVICTIONS ? evicted : [])];
  if (bad.length === 0) return { healthy: true, detail: 'pods run on' };
  const named = bad.slice(0, MAX_NAMED).map(({ name, failed: how }) => `${name} (${how?.reason})`);
  const more = bad.length > MAX_NAMED ? ` and ${bad.length - MAX_NAMED} more` : '';
  return { healthy: false, detail: `the restarted kubelet rejected pods that ran before: ${named.join(', ')}${more}` };
}

/** A failed pod has no time itself: the newest of its conditions, of its containers' ends and of the kubelet's writes of its status is closest. */
function failedAt(metadata: KubeObject['metadata'], status: Record<string, unknown>): Millis {
  const conditions = records(status['conditions']).map((one) => one['lastTransitionTime']);
  const ends = records(status['containerStatuses']).map((one) => record(record(one['state'])['terminated'])['finishedAt']);
  const writes = records((metadata as { managedFields?: unknown }).managedFields)
    .filter((one) => one['manager'] === 'kubelet')
    .map((one) => one['time']);
  const known = [...conditions, ...ends, ...writes].map(timeOf).filter((time) => !Number.isNaN(time));
  return known.length === 0 ? Number.NaN : Math.max(...known);
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** At most as many as decide anything: a pod has a few conditions, containers and writers. */
function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, 1000).map(record) : [];
}
