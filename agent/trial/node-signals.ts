import type { Health } from './health.ts';
import type { Millis } from '../../base/clock.ts';
import { fieldsOf } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** What a Node and its Lease report about the kubelet. Times are ms since 1970, by the clock of their writer; NaN where not set. */
export interface NodeHeartbeat {
  /** The Ready condition, whose times are whole seconds; absent where no kubelet has ever reported. */
  ready?: { isTrue: boolean; isUnknown: boolean; why: string; heartbeatAt: Millis; sinceAt: Millis };
  /** `renewTime` of the Lease; absent where the Lease was not requested or cannot be read. */
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

export function nodeHeartbeat(node: KubeObject): NodeHeartbeat {
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
 * Whether the node is healthy: Ready, with a heartbeat or Lease renewal from the kubelet that runs now. A node that was not Ready before the change
 * either gives no evidence about the config.
 * @returns undefined where there is no evidence
 */
export function healthOfNode({ ready, renewedAt: renewed = Number.NaN }: NodeHeartbeat, times: ChangeTimes): Health | undefined {
  if (!ready) return undefined;
  if (!ready.isTrue) {
    // Condition times are truncated to seconds: a transition in the same second as the change is attributed to it.
    const isOlder = Number.isNaN(ready.sinceAt) || ready.sinceAt < seconds(times.trialAt) || isOfClockBefore(ready, times);
    if (isOlder && times.wasReady !== true) return undefined;
    return { healthy: false, detail: `Node is not Ready: ${ready.why || 'no reason given'}` };
  }
  // A Node without any heartbeat is not managed by a kubelet.
  if (Number.isNaN(ready.heartbeatAt) && Number.isNaN(renewed)) return undefined;
  // The kubelet before may have written it in the second in which this one started: only a Lease tells, as it has microseconds.
  const isMaybeSince = Number.isNaN(renewed) && ready.heartbeatAt === seconds(times.kubeletAt);
  return isReportedSince(times, ready.heartbeatAt) || isReportedSince(times, renewed) || isMaybeSince
    ? { healthy: true, detail: 'Node is Ready' }
    : { healthy: false, detail: 'Node has had no heartbeat since the kubelet started: the kubelet does not reach the API server' };
}

/** Whether a kubelet wrote this before the change, by a clock that was set back since. Unknown is written by a controller, by another clock. */
function isOfClockBefore({ isUnknown, sinceAt }: NonNullable<NodeHeartbeat['ready']>, { trialAt, now }: ChangeTimes): boolean {
  return !isUnknown && sinceAt > now && trialAt <= now;
}

/** Whether the kubelet that runs now wrote this time. All are by this node's clock; true where it was set back, since then none compares. */
export function isReportedSince({ kubeletAt, now }: Pick<ChangeTimes, 'kubeletAt' | 'now'>, time: Millis): boolean {
  return kubeletAt > now || time >= kubeletAt;
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
  /** `status.startTime`, when a kubelet first acknowledged the pod; NaN where none did. */
  startedAt: Millis;
  /** Absent unless the pod failed. `at`: when that was written; NaN where unknown. */
  failed?: { reason: string; at: Millis };
}

/** Reasons with which a kubelet rejects existing pods at its start: resources, labels, devices and sysctls. */
const REJECTIONS: ReadonlySet<string> = new Set(['NodeAffinity', 'UnexpectedAdmissionError', 'SysctlForbidden', 'TopologyAffinityError']);
const isRejection = (reason: string): boolean => reason.startsWith('OutOf') || REJECTIONS.has(reason) || reason === REJECTED;

/** Fewer evictions are routine and do not count. */
const MIN_EVICTIONS = 3;
/** A kubelet rejects existing pods within this time after its start, in ms. */
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

/** Our reason for pods that the kubelet rejected and reports as Succeeded. */
const REJECTED = 'Rejected';

/**
 * A kubelet of 1.27 and newer that rejects or evicts a pod reports it as Succeeded, without a reason, where its containers exit with 0 on SIGTERM.
 * A pod with restartPolicy Always cannot succeed in another way, unless it is deleted or has a deadline.
 */
function endedByKubelet({ metadata, ...rest }: KubeObject): string | undefined {
  const [spec, status] = [fieldsOf(rest['spec']), fieldsOf(rest['status'])];
  if (status['phase'] !== 'Succeeded' || spec['restartPolicy'] !== 'Always') return undefined;
  if (metadata.deletionTimestamp !== undefined || spec['activeDeadlineSeconds'] !== undefined) return undefined;
  const isDisrupted = records(status['conditions']).some((one) => one['type'] === 'DisruptionTarget' && one['status'] === 'True');
  return isDisrupted ? 'Evicted' : REJECTED;
}

/**
 * Whether the restarted kubelet keeps the pods that ran before the change.
 * @param alive - uids of pods that were seen since the trial began and had not failed
 */
export function healthOfPods(pods: readonly PodSeen[], alive: ReadonlySet<string>, { trialAt, kubeletAt }: ChangeTimes): Health {
  const failedSinceStart = ({ uid, startedAt, failed }: PodSeen): boolean =>
    failed !== undefined &&
    startedAt < trialAt &&
    (alive.has(uid) || (failed.at >= kubeletAt - 1000 && failed.at <= kubeletAt + REJECTION_WINDOW_MS));
  const failed = pods.filter(failedSinceStart);
  const rejected = failed.filter((pod) => isRejection(pod.failed?.reason ?? ''));
  const evicted = failed.filter((pod) => pod.failed?.reason === 'Evicted');
  const bad = [...rejected, ...(evicted.length >= MIN_EVICTIONS ? evicted : [])];
  if (bad.length === 0) return { healthy: true, detail: 'pods run on' };
  const named = bad.slice(0, MAX_NAMED).map(({ name, failed: how }) => `${name} (${how?.reason})`);
  const more = bad.length > MAX_NAMED ? ` and ${bad.length - MAX_NAMED} more` : '';
  return { healthy: false, detail: `the restarted kubelet rejected pods that ran before: ${named.join(', ')}${more}` };
}

/** A pod has no failure time: the newest of its condition transitions, container ends and status writes by the kubelet is the closest. */
function failedAt(metadata: KubeObject['metadata'], status: Record<string, unknown>): Millis {
  const conditions = records(status['conditions']).map((one) => one['lastTransitionTime']);
  const ends = records(status['containerStatuses']).map((one) => fieldsOf(fieldsOf(one['state'])['terminated'])['finishedAt']);
  const writes = records((metadata as { managedFields?: unknown }).managedFields)
    .filter((one) => one['manager'] === 'kubelet')
    .map((one) => one['time']);
  const known = [...conditions, ...ends, ...writes].map(timeOf).filter((time) => !Number.isNaN(time));
  return known.length === 0 ? Number.NaN : Math.max(...known);
}

/** At most 1000 entries: a pod has a few conditions, containers and field managers. */
function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, 1000).map((one) => fieldsOf(one)) : [];
}
