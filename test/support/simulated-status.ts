import { rfc3339 } from '../../base/clock.ts';
import { nodes, pods } from '../../kube/api/object.ts';
import type { FakeApi } from './fake-api.ts';
import type { FakeClock } from './fake-clock.ts';

/** What the kubelet of a simulated node writes to the API: whether its Node is Ready, and what became of its pods. */
export class SimulatedStatus {
  readonly #api: FakeApi;
  readonly #clock: FakeClock;
  readonly #node: string;
  /** Whether it writes at all: Ready a second after each start, and what it makes of the pods there. Off: as if nobody had ever written the Node. */
  reports = false;

  constructor(api: FakeApi, clock: FakeClock, node: string) {
    this.#api = api;
    this.#clock = clock;
    this.#node = node;
  }

  /** Also written by others than the kubelet: a network that is down, say. */
  setReady(isTrue: boolean): void {
    const node = this.#api.get(nodes, { name: this.#node });
    if (!node) return;
    const at = rfc3339(this.#clock.now());
    const status = node['status'] as { conditions?: { status: string; lastTransitionTime: string }[] };
    const old = status.conditions?.[0];
    const word = isTrue ? 'True' : 'False';
    const ready = {
      type: 'Ready',
      status: word,
      reason: isTrue ? 'KubeletReady' : 'KubeletNotReady',
      message: isTrue ? '' : 'cni plugin not initialized',
      lastHeartbeatTime: at,
      lastTransitionTime: old?.status === word ? old.lastTransitionTime : at,
    };
    this.#api.put(nodes, { ...node, status: { ...status, conditions: [ready] } });
  }

  addPod(name: string): void {
    const startTime = new Date(this.#clock.now() - 60_000).toISOString();
    this.#api.put(pods, { metadata: { namespace: 'web', name }, spec: { nodeName: this.#node }, status: { phase: 'Running', startTime } });
  }

  /** @param kind - how the kubelet does with its configuration: `mute` writes nothing, `unready` says so, `rejects` fails its pods */
  report(kind: string): void {
    if (!this.reports || this.#api.away || kind === 'mute') return;
    this.setReady(kind !== 'unready');
    if (kind !== 'rejects') return;
    for (const pod of this.#api.all(pods)) {
      const status = { ...(pod['status'] as object), phase: 'Failed', reason: 'OutOfcpu' };
      const time = new Date(this.#clock.now()).toISOString();
      const metadata = { ...pod.metadata, managedFields: [{ manager: 'kubelet', subresource: 'status', time }] };
      this.#api.put(pods, { ...pod, metadata, status });
    }
  }
}
