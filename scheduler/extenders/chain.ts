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
  /** Most points that a plugin gives, 100 or 10; extenders give 10, which count as many. */
  scoreRange: number;
  /** Bytes of an answer beyond twice those of its question. @default 16 MiB */
  answerBytes?: number;
}

/** What extenders left of the nodes that were feasible without them. */
export interface Filtered {
  /** In the order in which they were given. */
  readonly survivors: readonly Readonly<Node>[];
  /** All others. */
  readonly refused: ReadonlyMap<string, ExtenderRejection>;
}

/**
 * All extenders of a scheduler. A call throws the ExtenderError of one that is not to be ignored, or the signal's reason; failures that are ignored are
 * told once, and once more when they are over.
 */
export class Extenders {
  readonly #extenders: readonly Extender[];
  readonly #log: Log;
  readonly #factor: number;
  /** Calls that were passed over when they were made last. */
  readonly #passedOver = new Set<string>();

  /** @throws {RangeError} when more than one would bind */
  constructor(configs: readonly ExtenderConfig[], { clock, log, scoreRange, answerBytes }: ChainOptions) {
    const binders = configs.filter(({ bindVerb }) => bindVerb !== '').length;
    if (binders > 1) throw new RangeError(`only one extender can bind, not ${binders}`);
    const options = { clock, ...(answerBytes === undefined ? {} : { answerBytes }) };
    this.#extenders = inOrder(configs).map((config) => new Extender(config, options));
    this.#log = log;
    this.#factor = scoreRange / 10;
  }

  /** Whether somebody is asked this about the pod: if not, the call need not be made, and would change nothing. */
  asks(verb: Verb, pod: PodInfo): boolean {
    return this.#extenders.some((extender) => extender.does(verb, pod));
  }

  /** One after the other: each is asked about what those before it left. */
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

  /** What extenders add to the scores of nodes; a node without is given nothing. All are asked at once, and whose call fails gives nothing. */
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

  /** @returns false: nobody here binds this pod. After an error it may be bound all the same */
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
   * Candidates for preemption as extenders leave them, one after the other.
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

  /** Calls under way fail. */
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
