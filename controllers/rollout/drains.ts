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

/** Max steps of one node in one reconcile: a cordon, conditions, one round of evictions, and the same once more after a conflict. */
const MAX_STEPS = 12;
/** After conditions of a Node could not be written, no Node gets conditions for this long, in ms. */
const CONDITIONS_PAUSE_MS: Millis = 60_000;
/** Time to wait after the pods of a node could not be read, or the Node not be written, in ms. */
const RETRY_MS: Millis = 5_000;

interface Known {
  state: DrainState & DrainFor;
  /** Monotonic: no request to the server before. */
  notBefore: Millis;
}

/** Called with a Node that was written, as the server has it. */
export type Wrote = (node: Node) => void;

/**
 * Continues drains, node by node. Keeps only retry times and the last results in memory: the state of a drain is on the Node, so that another process
 * can continue it.
 */
export class Drains {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #gaps: Pick<ClockGaps, 'measure'>;
  readonly #world: DrainWorld;
  readonly #backoff: EvictionBackoff;
  /** Monotonic: MaintenancePlanned is not written before. */
  #announcePausedUntil: Millis = -Infinity;
  /** Monotonic: until then drains continue without conditions, which the server rejected. */
  #conditionsPausedUntil: Millis = -Infinity;
  /** By rollout and node. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(client: Client, clock: Clock, gaps: Pick<ClockGaps, 'measure'>) {
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

  /** Called when the Node was deleted. */
  nodeDeleted(node: string): void {
    for (const known of this.#known.values()) known.delete(node);
  }

  /** Continues one drain. @returns ms until the next call; 0: the drain has ended. @throws the signal's reason */
  async advance(
    rules: Rules,
    { node, revision }: { node: RolloutNode; revision: string | undefined },
    wrote: Wrote,
    signal: AbortSignal,
  ): Promise<Millis> {
    const known = this.#of(rules.name);
    const left = (known.get(node.node)?.notBefore ?? 0) - this.#clock.monotonic();
    if (left > 0) return left;
    const record = (state: DrainState, again: Millis): Millis => {
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
          return record({ at: 'drained' }, 0);
        case 'failed':
          return record({ at: 'failed', error: `${step.reason}: ${step.why}` }, 0);
        case 'wait':
          return record({ at: 'draining', why: step.why, isHeld: step.isHeld }, step.requeueAfterMs);
        case 'patch':
        case 'evict':
        case 'uncordon':
        case 'given-back':
          return record({ at: 'draining', why: 'its Node changes' }, RETRY_MS);
      }
    } catch (error) {
      signal.throwIfAborted();
      return record({ at: 'draining', why: cut(describeError(error), 200), isHeld: true }, RETRY_MS);
    }
  }

  /** @returns the step at which the drain stopped */
  async #drain(rules: Rules, { node: name, object }: RolloutNode, wrote: Wrote, signal: AbortSignal): Promise<DrainStep> {
    let node = object as Readonly<Node>;
    const policy = { ...rules.drainPods, timeoutMs: rules.drainTimeoutMs };
    for (let steps = 1; ; steps++) {
      const pods = await podsOfNode(this.#client, name, signal);
      const { heldBack } = this.#backoff;
      const [now, gaps, isSilent] = [this.#clock.now(), this.#gaps.measure(), this.#clock.monotonic() < this.#conditionsPausedUntil];
      const step = planDrain({ node, pods, owner: ownerOf(rules), policy, now, gaps, heldBack, isSilent });
      if (step.do === 'drained' || step.do === 'failed' || step.do === 'wait' || steps === MAX_STEPS) return step;
      try {
        node = await this.#next(node, await executeDrain(step, this.#world, signal), wrote, signal);
      } catch (error) {
        if (!isOfConditions(step) || !isRejected(error)) throw error;
        this.#conditionsPausedUntil = this.#clock.monotonic() + CONDITIONS_PAUSE_MS;
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

  /** Announces maintenance by a condition of the Node. Best effort: skipped after a conflict, or without the right to write it. */
  async announce(rules: Rules, node: RolloutNode, what: LifecycleCondition, wrote: Wrote, signal: AbortSignal): Promise<void> {
    // A drained node keeps its condition until it is given back.
    const isDrained = what === 'MaintenanceInProgress' && hasCondition(nodeOf(node), 'Drained', ownerOf(rules));
    const step = planConditions(nodeOf(node), ownerOf(rules), isDrained ? [what, 'Drained'] : [what], this.#clock.now());
    if (step === undefined) return;
    if (what === 'MaintenancePlanned' && this.#clock.monotonic() < this.#announcePausedUntil) return;
    const outcome = await executeDrain(step, this.#world, signal).catch(() => undefined);
    signal.throwIfAborted();
    // A missing right concerns every node: without a pause, each reconcile would try again.
    if (outcome === undefined && what === 'MaintenancePlanned') this.#announcePausedUntil = this.#clock.monotonic() + CONDITIONS_PAUSE_MS;
    if (outcome?.result === 'patched') wrote(outcome.node);
  }

  /** Removes what the rollout left on a Node, the cordon even when conditions may not be written. @throws ApiError, TransportError */
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

/** Max pods of a node that is drained; a kubelet runs 110 by default. */
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
