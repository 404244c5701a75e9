import type { Clock, Millis } from '../../base/clock.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { nodes, pods } from '../../kube/api/object.ts';
import { type ApiError, isRejected } from '../../kube/client/errors.ts';
import { ApiEvictor, EvictionBackoff } from './drain/eviction.ts';
import { hasCondition, type LifecycleCondition, planConditions } from './drain/record.ts';
import type { DrainOutcome, DrainStep, Node, Pod } from './drain/contract.ts';
import { type DrainWorld, executeDrain } from './drain/execute.ts';
import { planDrain, planGiveBack } from './drain/plan.ts';
import type { ClockGaps } from './clock-gaps.ts';
import type { DrainFor, DrainState } from './contract.ts';
import { nodeOf, ownerOf } from './maintenance.ts';
import type { RolloutNode } from './node.ts';
import type { Rules } from './rules.ts';
import { cut } from './text.ts';

/** Steps of one node in one reconcile: a cordon, conditions, one round of evictions, and as many once more after a conflict. */
const MAX_STEPS = 12;
/** After a Node could not be told that it comes next, none is for so long. */
const UNSAID_MS: Millis = 60_000;
/** A node whose pods could not be read, or that could not be written, is looked at again then. */
const RETRY_MS: Millis = 5_000;

interface Known {
  state: DrainState & DrainFor;
  /** Monotonic: nothing is asked of the server before. */
  notBefore: Millis;
}

/** What is written for one node, and what the server then has. */
export type Wrote = (node: Node) => void;

/**
 * Continues drains, node by node. It remembers only retry times and the last answers: the state of a drain is on the Node, so that another process
 * can continue it.
 */
export class Drains {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #gaps: Pick<ClockGaps, 'look'>;
  readonly #world: DrainWorld;
  readonly #backoff: EvictionBackoff;
  /** Monotonic: no Node is told before that it comes next. */
  #unsaidUntil: Millis = -Infinity;
  /** Monotonic: until then drains go on without conditions, which were refused. */
  #silentUntil: Millis = -Infinity;
  /** By rollout and node. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(client: Client, clock: Clock, gaps: Pick<ClockGaps, 'look'>) {
    this.#gaps = gaps;
    this.#client = client;
    this.#clock = clock;
    this.#backoff = new EvictionBackoff(clock);
    this.#world = { client, evictor: new ApiEvictor(client), backoff: this.#backoff };
  }

  /** By node. */
  statesOf(rollout: string): ReadonlyMap<string, DrainState & DrainFor> {
    return new Map([...(this.#known.get(rollout) ?? [])].map(([node, { state }]) => [node, state]));
  }

  forget(rollout: string, node?: string): void {
    if (node === undefined) this.#known.delete(rollout);
    else this.#known.get(rollout)?.delete(node);
  }

  /** There is no Node of this name any more. */
  nodeGone(node: string): void {
    for (const known of this.#known.values()) known.delete(node);
  }

  /** One look at a drain, and what follows from it. @returns when to look again; 0: it has ended. @throws the signal's reason */
  async advance(
    rules: Rules,
    { node, revision }: { node: RolloutNode; revision: string | undefined },
    wrote: Wrote,
    signal: AbortSignal,
  ): Promise<Millis> {
    const known = this.#of(rules.name);
    const left = (known.get(node.node)?.notBefore ?? 0) - this.#clock.monotonic();
    if (left > 0) return left;
    const say = (state: DrainState, again: Millis): Millis => {
      known.set(node.node, {
        state: { ...state, revision, attempt: rules.attempt, uid: node.uid },
        notBefore: this.#clock.monotonic() + again,
      });
      return again;
    };
    try {
      const step = await this.#drain(rules, node, wrote, signal);
      switch (step.do) {
        case 'drained':
          return say({ at: 'drained' }, 0);
        case 'failed':
          return say({ at: 'failed', error: `${step.reason}: ${step.why}` }, 0);
        case 'wait':
          return say({ at: 'draining', why: step.why, isHeld: step.isHeld }, step.requeueAfterMs);
        case 'patch':
        case 'evict':
        case 'uncordon':
        case 'given-back':
          return say({ at: 'draining', why: 'its Node changes' }, RETRY_MS);
      }
    } catch (error) {
      signal.throwIfAborted();
      return say({ at: 'draining', why: cut(describeError(error), 200), isHeld: true }, RETRY_MS);
    }
  }

  /** @returns the step at which it came to a stop */
  async #drain(rules: Rules, { node: name, object }: RolloutNode, wrote: Wrote, signal: AbortSignal): Promise<DrainStep> {
    let node = object as Readonly<Node>;
    const policy = { ...rules.drainPods, timeoutMs: rules.drainTimeoutMs };
    for (let steps = 1; ; steps++) {
      const pods = await podsOfNode(this.#client, name, signal);
      const { heldBack } = this.#backoff;
      const [now, gaps, isSilent] = [this.#clock.now(), this.#gaps.look(), this.#clock.monotonic() < this.#silentUntil];
      const step = planDrain({ node, pods, owner: ownerOf(rules), policy, now, gaps, heldBack, isSilent });
      if (step.do === 'drained' || step.do === 'failed' || step.do === 'wait' || steps === MAX_STEPS) return step;
      try {
        node = await this.#next(node, await executeDrain(step, this.#world, signal), wrote, signal);
      } catch (error) {
        if (!isOfConditions(step) || !isRejected(error)) throw error;
        this.#silentUntil = this.#clock.monotonic() + UNSAID_MS;
      }
    }
  }

  /** The Node as the server has it after a step. */
  async #next(node: Readonly<Node>, outcome: DrainOutcome, wrote: Wrote, signal: AbortSignal): Promise<Readonly<Node>> {
    if (outcome.result === 'patched') {
      wrote(outcome.node);
      return outcome.node;
    }
    if (outcome.result === 'conflict') return this.#client.get<Node>(nodes, { name: node.metadata.name ?? '' }, { signal });
    return node;
  }

  /** Says on the Node that it is worked on. Nothing hangs on it: where somebody else writes the Node at that moment, or it may not be written, it goes unsaid. */
  async announce(rules: Rules, node: RolloutNode, what: LifecycleCondition, wrote: Wrote, signal: AbortSignal): Promise<void> {
    // A node that was drained stays so until it is given back.
    const isDrained = what === 'MaintenanceInProgress' && hasCondition(nodeOf(node), 'Drained', ownerOf(rules));
    const step = planConditions(nodeOf(node), ownerOf(rules), isDrained ? [what, 'Drained'] : [what], this.#clock.now());
    if (step === undefined) return;
    if (what === 'MaintenancePlanned' && this.#clock.monotonic() < this.#unsaidUntil) return;
    const outcome = await executeDrain(step, this.#world, signal).catch(() => undefined);
    signal.throwIfAborted();
    // A right that is missing is so for every node: what is planned would be tried at each look.
    if (outcome === undefined && what === 'MaintenancePlanned') this.#unsaidUntil = this.#clock.monotonic() + UNSAID_MS;
    if (outcome?.result === 'patched') wrote(outcome.node);
  }

  /** Takes away what the rollout left on a Node: also the cordon where its conditions may not be written. @throws ApiError, TransportError */
  async giveBack(rules: Pick<Rules, 'name' | 'uid'>, object: Readonly<Node>, wrote: Wrote, signal: AbortSignal): Promise<void> {
    let node = object;
    let refused: ApiError | undefined;
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const step = planGiveBack(node, ownerOf(rules), this.#clock.now(), { isSilent: refused !== undefined });
      if (step.do === 'given-back') break;
      const outcome = await executeDrain(step, this.#world, signal).catch((error: unknown) => {
        if (!isOfConditions(step) || !isRejected(error)) throw error;
        refused = error;
        return undefined;
      });
      if (outcome === undefined) continue;
      if (outcome.result === 'gone') break;
      node = await this.#next(node, outcome, wrote, signal);
    }
    this.forget(rules.name, object.metadata.name);
    if (refused !== undefined) throw refused;
  }

  #of(rollout: string): Map<string, Known> {
    const known = this.#known.get(rollout) ?? new Map<string, Known>();
    this.#known.set(rollout, known);
    return known;
  }
}

const isOfConditions = (step: DrainStep): boolean => step.do === 'patch' && step.subresource === 'status';

/** A kubelet runs 110 pods by default; a node with more than this is none that a drain can be sure of. */
const MAX_PODS_OF_NODE = 5_000;

/**
 * All pods of a node, as the API server has them now: one list of one node costs less than a cache of all pods.
 * @throws {ActionError} for more than 5,000 pods; ApiError, TransportError
 */
async function podsOfNode(client: Pick<Client, 'listEach'>, node: string, signal: AbortSignal): Promise<Pod[]> {
  const found: Pod[] = [];
  const take = (pod: Pod): void => {
    if (found.length === MAX_PODS_OF_NODE) {
      throw new ActionError('drain node', node, { hint: `it has more than ${MAX_PODS_OF_NODE} pods; remove those that have ended` });
    }
    found.push(pod);
  };
  await client.listEach<Pod>(pods, { fieldSelector: `spec.nodeName=${node}` }, take, { signal });
  return found;
}
