import type { Millis } from '../../../../../base/clock.ts';
import { availableIn } from '../../../../../controllers/common/pods.ts';
import { HASH_LABEL, type Revision } from '../../../../../controllers/common/history/contract.ts';
import { limitsOf } from '../../../../../controllers/daemonset/update.ts';
import { decideNode } from '../../../../../controllers/daemonset/placement/node-decision.ts';
import { isTerminating, isOver, targetNode } from '../../../../../controllers/daemonset/pods.ts';
import { rulesOf, type Rules } from '../../../../../controllers/daemonset/rules.ts';
import { Summary } from '../../../../../controllers/daemonset/summary.ts';
import type { DaemonSet, Node, Pod } from '../../../../../controllers/common/types.ts';
import { isControlledBy } from '../../../../../kube/controller/owners.ts';

/** What is on the server. */
export interface Holdings {
  pods(): readonly Pod[];
  nodes(): readonly Node[];
  revisions(): readonly Revision[];
}

/** A set and what it has, as the server has it at this moment: what a controller should have acted on. */
export class SetView {
  readonly rules: Rules;
  readonly pods: readonly Pod[];
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #now: Millis;
  readonly #revisions: readonly Revision[];

  constructor(set: DaemonSet, held: Holdings, now: Millis) {
    this.rules = rulesOf(set, 'scheduler');
    this.pods = held.pods().filter((pod) => isControlledBy(pod, set));
    this.#nodes = new Map(held.nodes().map((node) => [node.metadata.name ?? '', node]));
    this.#revisions = held.revisions().filter((revision) => isControlledBy(revision, set));
    this.#now = now;
  }

  /** Nodes that should have a pod. */
  wanted(): string[] {
    return [...this.#nodes.keys()].filter((name) => this.runs(name));
  }

  runs(name: string): boolean {
    return this.#decision(name)?.run === true;
  }

  mayKeep(name: string): boolean {
    return this.#decision(name)?.keep === true;
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Neither going nor ended. */
  live(node: string): Pod[] {
    return this.pods.filter((pod) => targetNode(pod) === node && !isTerminating(pod) && !isOver(pod));
  }

  /** Marked for deletion, and still running. */
  going(node: string): Pod[] {
    return this.pods.filter((pod) => targetNode(pod) === node && isTerminating(pod) && !isOver(pod));
  }

  isAvailable(pod: Pod): boolean {
    return availableIn(pod, this.rules.minReadyMs, this.#now) === 0;
  }

  serves(node: string): boolean {
    return this.live(node).some((pod) => this.isAvailable(pod));
  }

  /** Label of the newest revision. */
  get hash(): string | undefined {
    const newest = this.#revisions.toSorted((a, b) => b.revision - a.revision)[0];
    return newest?.metadata.labels?.[HASH_LABEL];
  }

  isFresh(pod: Pod): boolean {
    return pod.metadata.labels?.[HASH_LABEL] === this.hash;
  }

  /** How far an update may go; counted anew. */
  limits(): { maxUnavailable: number; kept: number } {
    const summary = new Summary();
    summary.counts.desired = this.wanted().length;
    const { maxUnavailable, room } = limitsOf(this.rules, summary);
    return { maxUnavailable, kept: room === Infinity ? 0 : summary.counts.desired - room };
  }

  #decision(name: string): { run: boolean; keep: boolean } | undefined {
    const node = this.#nodes.get(name);
    return node === undefined ? undefined : decideNode(this.rules.template, this.rules.tolerations, node);
  }
}
