import type { Health } from './health.ts';
import type { ChangeTimes } from './node-ready.ts';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';

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
const isRejection = (reason: string): boolean => reason.startsWith('OutOf') || REJECTIONS.has(reason);

/** One eviction happens on any day. */
const MIN_EVICTIONS = 3;
/** A kubelet decides about the pods that it finds within this time of its start, in ms. */
export const REJECTION_WINDOW_MS: Millis = 120_000;
const MAX_NAMED = 10;

export function podSeen({ metadata, ...rest }: KubeObject): PodSeen {
  const status = (rest['status'] ?? {}) as { phase?: unknown; reason?: unknown; startTime?: unknown };
  const seen = { uid: metadata.uid ?? '', name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`, startedAt: timeOf(status.startTime) };
  if (status.phase !== 'Failed') return seen;
  return { ...seen, failed: { reason: typeof status.reason === 'string' ? status.reason : '', at: failedAt(metadata, status) } };
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

/** A failed pod has no time of its own: the newest of its conditions, of its containers' ends and of the kubelet's writes of its status is closest. */
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

function timeOf(value: unknown): Millis {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
