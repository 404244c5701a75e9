import type { HistoryStep, Revision } from '../../../../controllers/common/history/contract.ts';
import { templateOf } from '../../../../controllers/common/history/revision.ts';
import { enqueueOnNode } from '../../../../controllers/daemonset/enqueue.ts';
import { newPod } from '../../../../controllers/daemonset/actions.ts';
import { plan, type Plan } from '../../../../controllers/daemonset/plan.ts';
import { isTerminating, isOver, isPlaced, nameOf, targetNode } from '../../../../controllers/daemonset/pods.ts';
import { recount } from '../../../../controllers/daemonset/recount.ts';
import { SetMemory } from '../../../../controllers/common/set-memory.ts';
import { rulesOf, type Rules } from '../../../../controllers/daemonset/rules.ts';
import type { DaemonSet, Node, Pod } from '../../../../controllers/daemonset/types.ts';
import type { Change } from '../../../../kube/cache/change.ts';
import type { Millis } from '../../../../base/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** What befell a pod by itself. */
export interface Happened {
  pod: string;
  what: 'ready' | 'failed' | 'gone';
}

/**
 * A cluster of one set on fake time, without server and caches: each plan is true at once, and the controller looks again when something that would wake
 * it has changed, or when the last plan asked for it. A pod is on its node a second after it was made, ready when its image says, gone a second after it was
 * told to go; what is on a node that is gone goes with it, five seconds later.
 */
export class Rehearsal {
  readonly clock = new FakeClock('2026-03-01T12:00:00Z');
  /** Seconds from running to ready, by image; Infinity never. @default 2 */
  readonly readyAfter = new Map<string, number>();
  /** Nodes where each new pod fails a second after it got there. */
  readonly failing = new Set<string>();
  readonly nodes = new Map<string, Node>();
  pods: Pod[] = [];
  #revisions: Revision[] = [];
  #set: DaemonSet;
  #remembered = new SetMemory(this.clock);
  #isNews = false;
  #wakeAt: Millis = Infinity;
  readonly #since = new Map<string, Millis>();
  readonly #named = new Map<string, number>();

  constructor(set: DaemonSet) {
    this.#set = set;
  }

  get set(): DaemonSet {
    return this.#set;
  }

  set set(set: DaemonSet) {
    this.#set = set;
    this.#isNews = true;
  }

  /** Another process takes over; all that was remembered is gone. */
  restart(): void {
    this.#remembered = new SetMemory(this.clock);
    this.#wakeAt = Infinity;
    this.#isNews = true;
  }

  /** A node came, went (undefined) or is another than before. */
  change(name: string, after: Node | undefined): void {
    const before = this.nodes.get(name);
    if (after === undefined) this.nodes.delete(name);
    else this.nodes.set(name, after);
    const change = changeOf(before, after);
    if (change === undefined) return;
    const hasPods = (_: unknown, node: string): boolean => this.pods.some((pod) => targetNode(pod) === node);
    if (enqueueOnNode(change, { sets: [this.#set], rules: () => this.#rules, hasPods }).length > 0) this.#isNews = true;
    if (after === undefined) this.#since.set(name, this.clock.now());
  }

  imageOf(hash: string | undefined): string {
    const revision = this.#revisions.find(({ metadata }) => metadata.labels?.['controller-revision-hash'] === hash);
    const spec = revision && (templateOf(revision)?.['spec'] as Pod['spec']);
    return spec?.containers[0]?.image ?? '?';
  }

  /** Looks as often as there is something to look at. @returns each plan, before it is carried out */
  *looks(): Generator<Plan> {
    for (let looks = 0; this.#isNews || this.#wakeAt <= this.clock.monotonic(); looks++) {
      if (looks > 20) throw new Error('the controller does not come to rest');
      this.#isNews = false;
      const memory = { ...this.#remembered.of(this.#rules), statusHeldMs: 0 };
      const now = this.clock.now();
      const cluster = { nodes: [...this.nodes.values()], pods: this.pods, revisions: this.#revisions, now, pendingMs: 0, memory };
      const { facts } = recount(this.#rules, cluster);
      const todo = plan(facts);
      this.#wakeAt = Math.min(...todo.wakeUps.map(({ requeueAfter: after }) => after)) + this.clock.monotonic();
      for (const step of todo.history) this.#write(step);
      yield todo;
      this.#carryOut(todo);
    }
  }

  /** A second passes. @returns what the kubelets did in it */
  async second(): Promise<Happened[]> {
    await this.clock.advance(1_000);
    const happened: Happened[] = [];
    const now = this.clock.now();
    for (const pod of this.pods) {
      const name = nameOf(pod);
      const node = targetNode(pod) ?? '';
      const age = (now - (this.#since.get(name) ?? now)) / 1_000;
      const isLost = !this.nodes.has(node);
      if (isLost ? isPlaced(pod) && now - (this.#since.get(node) ?? now) >= 5_000 : isTerminating(pod) && age >= 1) {
        this.pods = this.pods.filter((other) => other !== pod);
        happened.push({ pod: name, what: 'gone' });
      } else if (isLost || isTerminating(pod) || isOver(pod)) continue;
      else if (!isPlaced(pod)) this.#put({ ...pod, spec: { ...pod.spec, containers: [], nodeName: node } }, 'Running', false);
      else if (this.failing.has(node) && !isReadyNow(pod)) {
        this.#put(pod, 'Failed', false);
        happened.push({ pod: name, what: 'failed' });
      } else if (age >= this.#readyAfter(pod) && !isReadyNow(pod)) {
        this.#put(pod, 'Running', true);
        happened.push({ pod: name, what: 'ready' });
      }
    }
    if (happened.length > 0) this.#isNews = true;
    return happened;
  }

  get #rules(): Rules {
    return rulesOf(this.#set, 'scheduler');
  }

  get #time(): string {
    return new Date(this.clock.now()).toISOString().replace('.000Z', 'Z');
  }

  #readyAfter(pod: Pod): number {
    return this.readyAfter.get(pod.spec?.containers[0]?.image ?? this.imageOf(pod.metadata.labels?.['controller-revision-hash'])) ?? 2;
  }

  #put(pod: Pod, phase: string, isReady: boolean): void {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: this.#time }];
    const after = { ...pod, status: { phase, conditions } };
    this.pods = this.pods.map((other) => (nameOf(other) === nameOf(pod) ? after : other));
    this.#since.set(nameOf(pod), this.clock.now());
    this.#isNews = true;
  }

  #write(step: HistoryStep): void {
    const change = (revision: Readonly<Revision>, to: Partial<Revision>): void => {
      this.#revisions = this.#revisions.map((one) => (one.metadata.name === revision.metadata.name ? { ...one, ...to } : one));
    };
    if (step.do === 'create') {
      this.#revisions = [
        ...this.#revisions,
        { ...step.revision, metadata: { ...step.revision.metadata, uid: `${step.revision.metadata.name}-uid` } },
      ];
    } else if (step.do === 'renumber') change(step.revision, { revision: step.to });
    else throw new Error(`no story leads to the step ${step.do}`);
  }

  #carryOut({ creations, deletions, truncate, status }: Plan): void {
    for (const creation of creations) {
      const count = (this.#named.get(creation.node) ?? 0) + 1;
      this.#named.set(creation.node, count);
      const name = `${creation.node}-${count}`;
      const made = newPod(this.#rules, creation);
      const metadata = { ...made.metadata, name, uid: `${name}-uid`, creationTimestamp: this.#time };
      this.pods = [...this.pods, { ...made, metadata, status: { phase: 'Pending' } }];
      this.#since.set(name, this.clock.now());
    }
    for (const { pod, node, reason } of deletions) {
      if (reason === 'failed') this.#remembered.failed(this.#rules, node);
      // Nobody has to end what does not run.
      this.pods = this.pods.flatMap((other) => {
        if (other !== pod) return [other];
        return isOver(pod) || !isPlaced(pod) ? [] : [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: this.#time } }];
      });
      this.#since.set(nameOf(pod), this.clock.now());
    }
    this.#revisions = this.#revisions.filter((one) => !truncate.includes(one));
    if (status !== undefined) this.#set = { ...this.#set, status };
    this.#isNews ||= creations.length + deletions.length + truncate.length > 0 || status !== undefined;
  }
}

function changeOf(before: Node | undefined, after: Node | undefined): Change<Node> | undefined {
  if (before === undefined) return after && { do: 'add', object: after };
  return after === undefined ? { do: 'delete', last: before, unseen: false } : { do: 'update', before, after };
}

const isReadyNow = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
