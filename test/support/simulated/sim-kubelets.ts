import type { Api } from '../../../apiserver/api.ts';
import { rfc3339, type Millis } from '../../../base/clock.ts';
import { deleteObject } from '../../../apiserver/handlers/delete.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { behaviourOf, statusFor } from '../hollow/behaviour.ts';
import type { Pod } from '../hollow/behaviour.ts';
import { homeOf, nextStep } from '../hollow/next.ts';
import type { Home, Node } from '../hollow/next.ts';

export interface Pace {
  /** From made to bound, from bound to running, from the mark of deletion to gone; asked anew for each pod. */
  bindMs(): Millis;
  startMs(): Millis;
  endMs(): Millis;
  /** Whether pods that ask for one node by its name are bound to it: nobody else has to schedule then. @default true */
  binds?: boolean;
}

export const atOnce: Pace = { bindMs: () => 0, startMs: () => 0, endMs: () => 0 };

/**
 * Scheduler, kubelets and whoever cleans up after lost nodes, on the storage itself: no requests, so that the server's faults meet controllers alone, and
 * a thousand steps take no time.
 */
export class SimKubelets {
  readonly #api: Api;
  readonly #pace: Pace;
  readonly #ending: AbortSignal;
  /** Pods that somebody waits for, by what and UID. */
  readonly #waiting = new Set<string>();

  constructor(api: Api, pace: Pace, ending: AbortSignal) {
    this.#api = api;
    this.#pace = pace;
    this.#ending = ending;
  }

  /** Begins; ends with the signal. */
  run(): void {
    this.#api.context.storage.onChange((kind, { key, type, object }) => {
      if (kind === '/pods' && type !== 'DELETED') setImmediate(() => this.#look(key));
      if (kind === '/nodes' && (type !== 'MODIFIED' || object.metadata.annotations !== undefined))
        setImmediate(() => this.#lookAtNode(object.metadata.name ?? ''));
    });
  }

  #lookAtNode(name: string): void {
    for (const pod of this.#api.context.storage.list('/pods').objects as Pod[])
      if (homeOf(pod) === name) this.#look(`${pod.metadata.namespace}/${pod.metadata.name}`);
  }

  #look(key: string): void {
    if (this.#ending.aborted) return;
    const pod = this.#api.context.storage.get('/pods', key) as Pod | undefined;
    if (pod === undefined) return;
    const step = nextStep(pod, this.#home(pod), this.#pace.binds !== false);
    if (step.do === 'nothing' || (step.do === 'report' && this.#statusOf(pod) === undefined)) return;
    const ms = this.#waitMs(step.do, pod);
    const what = `${step.do} ${pod.metadata.uid}`;
    if (ms <= 0) this.#do(key, pod.metadata.uid);
    else if (!this.#waiting.has(what)) {
      this.#waiting.add(what);
      const then = (): void => {
        this.#waiting.delete(what);
        this.#do(key, pod.metadata.uid);
      };
      this.#api.context.clock.sleep(ms, this.#ending).then(then, () => {});
    }
  }

  #waitMs(what: 'bind' | 'report' | 'remove', { status }: Pod): Millis {
    if (what === 'bind') return this.#pace.bindMs();
    if (what === 'remove') return this.#pace.endMs();
    return status?.startTime === undefined ? this.#pace.startMs() : 0;
  }

  /** What is to be done by now, which may be another thing than what was waited for. */
  #do(key: string, uid: string | undefined): void {
    const { storage, registry } = this.#api.context;
    const pod = storage.get('/pods', key) as Pod | undefined;
    if (pod === undefined || pod.metadata.uid !== uid) return;
    const step = nextStep(pod, this.#home(pod), this.#pace.binds !== false);
    const put = (changed: object): void => void storage.put('/pods', key, changed as KubeObject);
    if (step.do === 'bind') {
      const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: this.#now() };
      put({ ...pod, spec: { ...pod.spec, nodeName: step.node }, status: { ...pod.status, conditions: [bound] } });
    } else if (step.do === 'report') {
      const status = this.#statusOf(pod);
      if (status !== undefined) put({ ...pod, status: { ...pod.status, ...status } });
    } else if (step.do === 'remove') {
      const served = registry.stored('/pods');
      const { namespace = '', name = '' } = pod.metadata;
      if (served !== undefined) deleteObject(this.#api.context, served, { namespace, name }, { dryRun: false, gracePeriodSeconds: 0 });
    }
  }

  #statusOf(pod: Pod): object | undefined {
    return statusFor(pod, behaviourOf(pod), this.#now());
  }

  #home(pod: Pod): Home {
    const node = this.#api.context.storage.get('/nodes', homeOf(pod)) as Node | undefined;
    return node === undefined ? 'lost' : { node };
  }

  #now(): string {
    return rfc3339(this.#api.context.clock.now());
  }
}
