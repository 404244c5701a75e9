import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Failure } from '../../../../scheduler/queue/contract.ts';

/** What happens, as the model sees it: whom it helps. */
export interface ModelEvent {
  helps(info: PodInfo, rejector: string): boolean;
  only: ((info: PodInfo) => boolean) | undefined;
}

interface ModelPod {
  info: PodInfo;
  at: 'active' | 'refused' | 'failed' | 'unschedulable' | 'held' | 'gated' | 'in-flight';
  turn: number;
  lastTry: number;
  until: number | undefined;
  attempts: number;
  refusals: number;
  errors: number;
  by: string[];
  held: boolean;
  seen: ModelEvent[];
  deaf: boolean;
  again: boolean;
  invalidated: string[];
}

const pools = {
  active: 'active',
  refused: 'backoff',
  failed: 'backoff',
  unschedulable: 'unschedulable',
  held: 'unschedulable',
  gated: 'gated',
  'in-flight': 'in-flight',
};

/** The queue as one would write it who has one pod and all the time of the world: one list, looked through and sorted at every question. */
export class ModelQueue {
  now = 0;
  pods: ModelPod[] = [];
  #turn = 0;
  readonly prioritized = new Set<string>();

  of(uid: string): ModelPod | undefined {
    return this.pods.find(({ info }) => info.uid === uid);
  }

  add(info: PodInfo, gated: boolean): void {
    this.pods = this.pods.filter((pod) => pod.info.key !== info.key);
    const fresh = {
      until: undefined,
      attempts: 0,
      refusals: 0,
      errors: 0,
      by: [],
      held: false,
      seen: [],
      deaf: false,
      again: false,
      invalidated: [],
    };
    this.pods.push({ info, at: gated ? 'gated' : 'active', turn: this.#turn++, lastTry: this.now, ...fresh });
  }

  change(info: PodInfo, gated: boolean, voids: string[]): void {
    const pod = this.of(info.uid);
    if (pod === undefined) return this.add(info, gated);
    pod.info = info;
    if (pod.at === 'in-flight') pod.invalidated.push(...voids);
    else if (pod.at === 'gated' && !gated) this.#class(pod);
    else if ((pod.at === 'unschedulable' || pod.at === 'held') && pod.by.some((rejector) => voids.includes(rejector))) this.#again(pod);
  }

  delete(uid: string): void {
    this.pods = this.pods.filter(({ info }) => info.uid !== uid);
  }

  pop(): string | undefined {
    const first = this.#sorted('active')[0] ?? this.#sorted('refused')[0];
    if (first === undefined) return undefined;
    Object.assign(first, {
      at: 'in-flight',
      attempts: first.attempts + 1,
      by: [],
      until: undefined,
      seen: [],
      deaf: false,
      again: false,
      invalidated: [],
    });
    return first.info.uid;
  }

  requeue(uid: string, failure: Failure): void {
    const pod = this.of(uid);
    if (pod?.at !== 'in-flight') return;
    let goesOn = true;
    if (failure.why === 'error') pod.errors++;
    else {
      pod.refusals++;
      pod.errors = 0;
      pod.by = [...failure.by];
      const helped = (event: ModelEvent) => event.only?.(pod.info) !== false && pod.by.some((rejector) => event.helps(pod.info, rejector));
      goesOn = pod.deaf || pod.again || pod.by.some((rejector) => pod.invalidated.includes(rejector)) || pod.seen.some(helped);
    }
    pod.turn = this.#turn++;
    pod.lastTry = this.now;
    const failures = pod.errors || pod.refusals;
    pod.until = this.now + Math.min(10_000, 1_000 * 2 ** (failures - 1));
    pod.again = goesOn;
    if (pod.held) pod.at = 'held';
    else if (goesOn) this.#class(pod);
    else pod.at = 'unschedulable';
  }

  enqueueOn(event: ModelEvent): void {
    for (const pod of this.pods) {
      if (pod.at === 'in-flight') pod.seen.push(event);
      if ((pod.at !== 'unschedulable' && pod.at !== 'held') || event.only?.(pod.info) === false) continue;
      if (pod.by.some((rejector) => event.helps(pod.info, rejector))) this.#again(pod);
    }
  }

  activate(uid: string): void {
    const pod = this.of(uid);
    if (pod?.at === 'in-flight') pod.again = true;
    if (pod?.at === 'unschedulable' || pod?.at === 'held') this.#again(pod);
  }

  hold(uid: string): void {
    const pod = this.of(uid);
    if (pod === undefined || pod.at === 'gated') return;
    if (pod.at !== 'in-flight' && !pod.held) pod.again = pod.at !== 'unschedulable';
    pod.held = true;
    if (pod.at !== 'in-flight') pod.at = 'held';
  }

  release(uid: string): void {
    const pod = this.of(uid);
    if (pod === undefined || !pod.held) return;
    pod.held = false;
    if (pod.at === 'in-flight') pod.again = true;
    else if (pod.again) this.#class(pod);
    else pod.at = 'unschedulable';
  }

  tick(): number | undefined {
    for (const pod of this.pods) {
      if (pod.at === 'unschedulable' && pod.lastTry + 300_000 <= this.now) this.#class(pod);
      if ((pod.at === 'refused' || pod.at === 'failed') && (pod.until ?? 0) <= this.now) pod.at = 'active';
    }
    const times = this.pods.flatMap(({ at, until, lastTry }) => {
      if (at === 'unschedulable') return [lastTry + 300_000];
      return at === 'refused' || at === 'failed' ? [until ?? 0] : [];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** One line a pod. */
  get picture(): string[] {
    return this.pods
      .map(({ info, at, until, attempts, refusals, errors, by }) =>
        [info.uid, pools[at], until, attempts, refusals, errors, by.toSorted().join()].join(' '),
      )
      .toSorted();
  }

  /** Now, or once it is released. */
  #again(pod: ModelPod): void {
    if (pod.at === 'held') pod.again = true;
    else this.#class(pod);
  }

  #class(pod: ModelPod): void {
    if (pod.until === undefined || pod.until <= this.now) pod.at = 'active';
    else pod.at = pod.errors > 0 ? 'failed' : 'refused';
  }

  #sorted(at: ModelPod['at']): ModelPod[] {
    const first = (pod: ModelPod) => (this.prioritized.has(pod.info.uid) ? 0 : 1);
    return this.pods
      .filter((pod) => pod.at === at)
      .toSorted(
        (a, b) =>
          (at === 'refused' ? (a.until ?? 0) - (b.until ?? 0) : 0) ||
          b.info.priority - a.info.priority ||
          first(a) - first(b) ||
          a.turn - b.turn,
      );
  }
}
