import type { Health } from './health.ts';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** What a Node and its Lease say of the kubelet. Times are ms since 1970, by the clock of whoever wrote them; NaN where nobody did. */
export interface NodeWord {
  /** Absent where no kubelet has ever reported. */
  ready?: { isTrue: boolean; why: string; heartbeatAt: Millis; sinceAt: Millis };
  /** Of the Lease; absent where it was not asked for, or cannot be read. */
  renewedAt?: Millis;
}

export interface ChangeTimes {
  /** When the trial began. */
  trialAt: Millis;
  /** When the kubelet was started last. */
  kubeletAt: Millis;
  now: Millis;
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
    const isOlder = Number.isNaN(ready.sinceAt) || ready.sinceAt < seconds(times.trialAt);
    return isOlder ? undefined : { healthy: false, detail: `Node is not Ready: ${ready.why || 'no reason given'}` };
  }
  // A Node that nobody has ever renewed is not kept by a kubelet.
  if (Number.isNaN(ready.heartbeatAt) && Number.isNaN(renewed)) return undefined;
  return isSaidSince(times, ready.heartbeatAt, renewed)
    ? { healthy: true, detail: 'Node is Ready' }
    : { healthy: false, detail: 'Node has had no heartbeat since the kubelet started: it does not reach the API server' };
}

/** Whether one of these was written by the kubelet that runs now. Both clocks are this node's; one that was set back since makes none of them comparable. */
export function isSaidSince({ kubeletAt, now }: Pick<ChangeTimes, 'kubeletAt' | 'now'>, ...times: readonly Millis[]): boolean {
  return kubeletAt > now || times.some((time) => time >= seconds(kubeletAt));
}

const seconds = (time: Millis): Millis => Math.floor(time / 1000) * 1000;

function timeOf(value: unknown): Millis {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
