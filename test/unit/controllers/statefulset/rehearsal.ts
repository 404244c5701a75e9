import type { HistoryStep, Revision } from '../../../../controllers/common/history/contract.ts';
import { templateOf } from '../../../../controllers/common/history/revision.ts';
import { explain, type Explained } from '../../../../controllers/statefulset/explain.ts';
import type { SetFacts } from '../../../../controllers/statefulset/facts.ts';
import { newPod } from '../../../../controllers/statefulset/actions.ts';
import { factsOf } from '../../../../controllers/statefulset/observe.ts';
import { finalStatus, plan, type Plan } from '../../../../controllers/statefulset/plan.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import { makesRoom } from '../../../../controllers/statefulset/status.ts';
import type { Pod, StatefulSet } from '../../../../controllers/statefulset/types.ts';
import type { Millis } from '../../../../base/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** What befell a pod by itself. */
export interface Happened {
  pod: string;
  what: 'ready' | 'not ready' | 'failed' | 'gone';
}

/** A plan, and the status that it ends with where that is written. */
export interface Look {
  plan: Plan;
  steps: readonly HistoryStep[];
  status: StatefulSet['status'];
}

/**
 * A cluster of one set on fake time, without server and caches: each plan is true at once, and the controller looks again when something that would wake
 * it has changed, or when the last plan asked for it. A pod runs a second after it was made, is ready when its image says, and gone a second after it was
 * told to go; what has ended goes at once.
 */
export class Rehearsal {
  readonly clock = new FakeClock('2026-03-01T12:00:00Z');
  /** Seconds from running to ready, by image; Infinity never. @default 2 */
  readonly readyAfter = new Map<string, number>();
  /** Images whose pods fail a second after they run. */
  readonly failing = new Set<string>();
  /** Images whose pods find no node. */
  readonly nowhere = new Set<string>();
  /** Pods that are not ready, and will not be. */
  readonly unready = new Set<string>();
  /** Pods on nodes that nobody hears of any more. */
  readonly lost = new Set<string>();
  pods: Pod[] = [];
  #revisions: Revision[] = [];
  #set: StatefulSet;
  #isNews = true;
  #wakeAt: Millis = Infinity;
  #made = 0;
  /** By UID, when a pod came where it is. */
  readonly #since = new Map<string, Millis>();

  constructor(set: StatefulSet) {
    this.#set = set;
  }

  get set(): StatefulSet {
    return this.#set;
  }

  set set(set: StatefulSet) {
    this.#set = set;
    this.#isNews = true;
  }

  /** Image of a revision. @param name - `web-HASH` */
  imageOf(name: string | undefined): string {
    const revision = this.#revisions.find(({ metadata }) => metadata.name === name);
    const spec = revision && (templateOf(revision)?.['spec'] as Pod['spec']);
    return spec?.containers[0]?.image ?? '?';
  }

  explained(): Explained[] {
    return explain(this.#facts);
  }

  /** A person deletes a pod. @param force - without waiting for its node */
  delete(name: string, force = false): void {
    this.pods = this.pods.flatMap((pod) => (pod.metadata.name === name ? (force ? [] : this.#told(pod)) : [pod]));
    this.#isNews = true;
  }

  /** Looks as often as there is something to look at. @returns each plan, before it is carried out */
  *looks(): Generator<Look> {
    for (let looks = 0; this.#isNews || this.#wakeAt <= this.clock.monotonic(); looks++) {
      if (looks > 20) throw new Error('the controller does not come to rest');
      this.#isNews = false;
      const facts = this.#facts;
      const todo = plan(facts);
      this.#wakeAt = Math.min(...todo.wakeUps.map(({ requeueAfter: after }) => after)) + this.clock.monotonic();
      for (const step of facts.history.steps) this.#write(step);
      const removed = todo.groups.flat().filter((action) => makesRoom(facts, action)).length;
      const { status, change } = finalStatus(facts, todo, removed);
      yield { plan: todo, steps: facts.history.steps, status: change === 'nothing' ? undefined : status };
      this.#carryOut(todo);
      if (change === 'nothing') continue;
      this.#set = { ...this.#set, status };
      this.#isNews = true;
    }
  }

  /** A second passes. @returns what the kubelets did in it */
  async second(): Promise<Happened[]> {
    await this.clock.advance(1_000);
    const happened: Happened[] = [];
    const now = this.clock.now();
    for (const pod of this.pods) {
      const { name = '', uid = '', deletionTimestamp } = pod.metadata;
      const age = (now - (this.#since.get(uid) ?? now)) / 1_000;
      const image = pod.spec?.containers[0]?.image ?? '';
      const isReady = pod.status?.conditions?.[0]?.status === 'True';
      if (this.lost.has(name) || pod.status?.phase === 'Failed' || this.nowhere.has(image)) continue;
      if (deletionTimestamp !== undefined) {
        if (age < 1) continue;
        this.pods = this.pods.filter((other) => other !== pod);
        happened.push({ pod: name, what: 'gone' });
      } else if (pod.status?.phase === 'Pending') this.#put(pod, 'Running', false);
      else if (!isReady && this.failing.has(image)) {
        this.#put(pod, 'Failed', false);
        happened.push({ pod: name, what: 'failed' });
      } else if (isReady && this.unready.has(name)) {
        this.#put(pod, 'Running', false);
        happened.push({ pod: name, what: 'not ready' });
      } else if (!isReady && !this.unready.has(name) && age >= (this.readyAfter.get(image) ?? 2)) {
        this.#put(pod, 'Running', true);
        happened.push({ pod: name, what: 'ready' });
      }
    }
    if (happened.length > 0) this.#isNews = true;
    return happened;
  }

  get #facts(): SetFacts {
    const rules = rulesOf(this.#set);
    const cluster = {
      pods: this.pods,
      revisions: this.#revisions,
      pvc: () => undefined,
      allPvcs: () => [],
      storageClass: () => undefined,
    };
    return factsOf(rules, { ...cluster, now: this.clock.now() });
  }

  get #time(): string {
    return new Date(this.clock.now()).toISOString().replace('.000Z', 'Z');
  }

  #put(pod: Pod, phase: string, isReady: boolean): void {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: this.#time }];
    const after: Pod = { ...pod, spec: { containers: [], ...pod.spec, nodeName: 'a' }, status: { phase, conditions } };
    this.pods = this.pods.map((other) => (other === pod ? after : other));
    this.#since.set(pod.metadata.uid ?? '', this.clock.now());
    this.#isNews = true;
  }

  #write(step: HistoryStep): void {
    if (step.do === 'create') {
      const { metadata } = step.revision;
      this.#revisions = [...this.#revisions, { ...step.revision, metadata: { ...metadata, uid: `${metadata.name}-uid` } }];
    } else if (step.do === 'renumber')
      this.#revisions = this.#revisions.map((one) =>
        one.metadata.name === step.revision.metadata.name ? { ...one, revision: step.to } : one,
      );
    else throw new Error(`no story leads to the step ${step.do}`);
  }

  #carryOut({ groups, truncate }: Plan): void {
    const actions = groups.flat();
    for (const action of actions) {
      if (action.do === 'delete') this.pods = this.pods.flatMap((other) => (other === action.pod ? this.#told(other) : [other]));
      else if (action.do === 'create') this.#make(newPod(rulesOf(this.#set), { ...action.slot, ...action }));
      else throw new Error(`no story leads to the action ${action.do}`);
    }
    this.#revisions = this.#revisions.filter((one) => !truncate.some(({ metadata }) => metadata.name === one.metadata.name));
    this.#isNews ||= actions.length + truncate.length > 0;
  }

  #make(pod: Pod): void {
    const { name } = pod.metadata;
    if (this.pods.some(({ metadata }) => metadata.name === name)) throw new Error(`there is a pod ${name} already`);
    const uid = `${name}-${++this.#made}`;
    this.pods = [...this.pods, { ...pod, metadata: { ...pod.metadata, uid }, status: { phase: 'Pending' } }];
    this.#since.set(uid, this.clock.now());
  }

  /** Nobody has to end what does not run. */
  #told(pod: Pod): Pod[] {
    if (pod.spec?.nodeName === undefined || pod.status?.phase === 'Failed') return [];
    if (pod.metadata.deletionTimestamp !== undefined) return [pod];
    this.#since.set(pod.metadata.uid ?? '', this.clock.now());
    return [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: this.#time } }];
  }
}
