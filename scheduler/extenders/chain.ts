import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ExtenderConfig } from '../config/config.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Node } from '../types.ts';
import { Extender } from './extender.ts';
import { inOrder, urlOf, type Verb } from './protocol.ts';
import { addScores, type ExtenderRejection } from './apply-answer.ts';

export type { ExtenderRejection } from './apply-answer.ts';
export type { Verb } from './protocol.ts';

export interface ChainOptions {
  clock: Clock;
  log: Log;
  /** Maximum points of a plugin, 100 or 10; extenders give up to 10, which are scaled to it. */
  scoreRange: number;
  /** Maximum size of a response in bytes, beyond twice the size of its request. @default 16 MiB */
  answerBytes?: number;
}

/** Result of the extenders' filters, for the nodes that the plugins passed. */
export interface Filtered {
  /** In the given order. */
  readonly survivors: readonly Readonly<Node>[];
  /** All other nodes. */
  readonly refused: ReadonlyMap<string, ExtenderRejection>;
}

/**
 * All extenders of a scheduler. A call throws the ExtenderError of an extender that is not ignorable, or the signal's reason; ignored failures are logged
 * once, and so is the recovery.
 */
export class Extenders {
  readonly #extenders: readonly Extender[];
  readonly #log: Log;
  readonly #factor: number;
  /** URLs whose last call failed and was ignored. */
  readonly #passedOver = new Set<string>();

  /** @throws {RangeError} when more than one has a `bindVerb` */
  constructor(configs: readonly ExtenderConfig[], { clock, log, scoreRange, answerBytes }: ChainOptions) {
    const binders = configs.filter(({ bindVerb }) => bindVerb !== '').length;
    if (binders > 1) throw new RangeError(`only one extender can bind, not ${binders}`);
    const options = { clock, ...(answerBytes === undefined ? {} : { answerBytes }) };
    this.#extenders = inOrder(configs).map((config) => new Extender(config, options));
    this.#log = log;
    this.#factor = scoreRange / 10;
  }

  /** Whether any extender is called with this verb for the pod: otherwise the call would change nothing. */
  calls(verb: Verb, pod: PodInfo): boolean {
    return this.#extenders.some((extender) => extender.does(verb, pod));
  }

  /** Calls one extender after the other, each with the survivors of those before it. */
  async filter(pod: PodInfo, nodes: readonly Readonly<Node>[], signal: AbortSignal): Promise<Filtered> {
    let survivors = nodes;
    const refused = new Map<string, ExtenderRejection>();
    for (const extender of this.#who('filter', pod)) {
      if (survivors.length === 0) break;
      const verdict = await this.#unlessIgnored(extender, 'filter', signal, () => extender.filter(pod, survivors, signal));
      if (verdict === undefined) continue;
      for (const [node, why] of verdict.refused) refused.set(node, why);
      const left = new Set(verdict.survivors);
      survivors = survivors.filter(({ metadata }) => left.has(metadata.name ?? ''));
    }
    return { survivors, refused };
  }

  /** Scores that extenders add, by node; absent for 0. All extenders are called concurrently, and a failed call adds nothing. */
  async prioritize(pod: PodInfo, nodes: readonly Readonly<Node>[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const asked = new Set(nodes.map(({ metadata }) => metadata.name ?? ''));
    const who = this.#who('prioritize', pod);
    const given = await Promise.all(
      who.map((extender) => this.#tried(extender, 'prioritize', signal, true, () => extender.prioritize(pod, nodes, signal))),
    );
    const scores = new Map<string, number>();
    for (const [index, { config }] of who.entries()) addScores(scores, asked, given[index] ?? [], config.weight * this.#factor);
    return scores;
  }

  /** @returns false: no extender binds this pod. After an error the pod may still be bound */
  async bind(pod: PodInfo, node: string, signal: AbortSignal): Promise<boolean> {
    for (const extender of this.#who('bind', pod)) {
      const bound = await this.#unlessIgnored(extender, 'bind', signal, async () => {
        await extender.bind(pod, node, signal);
        return true;
      });
      if (bound === true) return true;
    }
    return false;
  }

  /**
   * Passes the candidates for preemption through one extender after the other.
   * @param podsOn - all pods of a node
   */
  async preempt(
    pod: PodInfo,
    candidates: readonly Candidate[],
    podsOn: (node: string) => readonly PodInfo[],
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    let left = candidates;
    for (const extender of this.#who('preempt', pod)) {
      if (left.length === 0) break;
      left = (await this.#unlessIgnored(extender, 'preempt', signal, () => extender.preempt(pod, left, podsOn, signal))) ?? left;
    }
    return left;
  }

  /** Calls in flight fail. */
  close(): void {
    for (const extender of this.#extenders) extender.close();
  }

  #who(verb: Verb, pod: PodInfo): Extender[] {
    return this.#extenders.filter((extender) => extender.does(verb, pod));
  }

  #unlessIgnored<T>(extender: Extender, verb: Verb, signal: AbortSignal, call: () => Promise<T>): Promise<T | undefined> {
    return this.#tried(extender, verb, signal, extender.config.ignorable, call);
  }

  async #tried<T>(extender: Extender, verb: Verb, signal: AbortSignal, isIgnored: boolean, call: () => Promise<T>): Promise<T | undefined> {
    const url = urlOf(extender.config, verb);
    try {
      const answer = await call();
      if (this.#passedOver.delete(url)) this.#log.info('extender recovered', { url });
      return answer;
    } catch (error) {
      if (signal.aborted || !isIgnored) throw error;
      if (!this.#passedOver.has(url)) this.#log.warn('extender failed, ignoring it', { url, error: describeError(error) });
      this.#passedOver.add(url);
      return undefined;
    }
  }
}
