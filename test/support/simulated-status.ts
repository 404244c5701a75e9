import { rfc3339 } from '../../base/clock.ts';
import { nodes, pods } from '../../kube/api/object.ts';
import type { FakeApi } from './fake-api.ts';
import type { FakeClock } from './fake-clock.ts';

/** What the kubelet of a simulated node writes to the API: whether its Node is Ready, and what became of its pods. */
export function simulatedStatus(api: FakeApi, clock: FakeClock, name: string) {
  const status = {
    /** Whether it writes at all: Ready a second after each start, and what it makes of the pods there. Off: as if nobody had ever written the Node. */
    reports: false,
    /** Also written by others than the kubelet: a network that is down, say. */
    setReady(isTrue: boolean): void {
      const node = api.get(nodes, { name });
      if (!node) return;
      const at = rfc3339(clock.now());
      const before = node['status'] as { conditions?: { status: string; lastTransitionTime: string }[] };
      const old = before.conditions?.[0];
      const word = isTrue ? 'True' : 'False';
      const [reason, message] = isTrue ? ['KubeletReady', ''] : ['KubeletNotReady', 'cni plugin not initialized'];
      const lastTransitionTime = old?.status === word ? old.lastTransitionTime : at;
      const ready = { type: 'Ready', status: word, reason, message, lastHeartbeatTime: at, lastTransitionTime };
      api.put(nodes, { ...node, status: { ...before, conditions: [ready] } });
    },
    addPod(pod: string): void {
      const startTime = new Date(clock.now() - 60_000).toISOString();
      api.put(pods, { metadata: { namespace: 'web', name: pod }, spec: { nodeName: name }, status: { phase: 'Running', startTime } });
    },
    /** @param kind - how the kubelet does with its configuration: `unready` says so, `rejects` fails its pods */
    report(kind: string): void {
      if (!status.reports || api.away) return;
      status.setReady(kind !== 'unready');
      if (kind !== 'rejects') return;
      const time = new Date(clock.now()).toISOString();
      for (const pod of api.all(pods)) {
        const metadata = { ...pod.metadata, managedFields: [{ manager: 'kubelet', subresource: 'status', time }] };
        api.put(pods, { ...pod, metadata, status: { ...(pod['status'] as object), phase: 'Failed', reason: 'OutOfcpu' } });
      }
    },
  };
  return status;
}
