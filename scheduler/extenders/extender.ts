import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { ExtenderConfig } from '../config/config.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Node } from '../types.ts';
import { Agents, postJson, StatusError } from './post.ts';
import {
  AnswerError,
  decodeBinding,
  decodeFilter,
  decodePreempt,
  decodePriorities,
  encodeBinding,
  encodeCandidates,
  encodeNodes,
  isInterested,
  type PreemptAnswer,
  urlOf,
  type Verb,
  verbOf,
} from './protocol.ts';
import { candidatesLeft, type ExtenderRejection, survivorsOf } from './apply-answer.ts';

/** A call to an extender failed. */
export class ExtenderError extends Error {
  override name = 'ExtenderError';
  constructor(verb: string, url: string, cause: unknown) {
    // The text for a status is kube-scheduler's.
    const why = cause instanceof StatusError ? `, ${cause.message}` : `: ${describeError(cause).slice(0, MAX_REASON_LENGTH)}`;
    super(`failed ${verb} with extender at URL ${url}${why}`, { cause });
  }
}

const MAX_REASON_LENGTH = 1_000;
/** Maximum size of a response in bytes, beyond twice the size of its request, which it may repeat in a longer encoding. */
const ANSWER_BYTES = 16 * 1024 * 1024;

export interface ExtenderOptions {
  clock: Clock;
  /** Maximum size of a response in bytes, beyond twice the size of the request. @default 16 MiB */
  answerBytes?: number;
}

/** One extender over HTTP. Every call throws an {@link ExtenderError}, or the signal's reason. */
export class Extender {
  readonly config: ExtenderConfig;
  readonly #options: ExtenderOptions;
  readonly #agents: Agents;

  constructor(config: ExtenderConfig, options: ExtenderOptions) {
    this.config = config;
    this.#options = options;
    this.#agents = new Agents(config);
  }

  /** Whether the extender is called with this verb for the pod. */
  does(verb: Verb, { pod }: PodInfo): boolean {
    return verbOf(this.config, verb) !== '' && isInterested(this.config, pod);
  }

  async filter(
    { pod }: PodInfo,
    nodes: readonly Readonly<Node>[],
    signal: AbortSignal,
  ): Promise<{ survivors: readonly string[]; refused: Map<string, ExtenderRejection> }> {
    const { nodeCacheCapable } = this.config;
    return this.#call('filter', encodeNodes(pod, nodes, nodeCacheCapable), signal, (answer) => {
      const said = decodeFilter(answer);
      if (said.error !== '') throw new AnswerError(said.error);
      return survivorsOf(
        nodes.map(({ metadata }) => metadata.name ?? ''),
        said,
        nodeCacheCapable,
      );
    });
  }

  /** Scores by node as the extender returns them, mostly 0 to 10. */
  async prioritize({ pod }: PodInfo, nodes: readonly Readonly<Node>[], signal: AbortSignal): Promise<{ host: string; score: number }[]> {
    return this.#call('prioritize', encodeNodes(pod, nodes, this.config.nodeCacheCapable), signal, decodePriorities);
  }

  /** After a failure the caller must read the pod: it may be bound. */
  async bind(pod: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    await this.#call('bind', encodeBinding(pod, node), signal, (answer) => {
      const error = decodeBinding(answer);
      if (error !== '') throw new AnswerError(error);
    });
  }

  async preempt(
    pod: PodInfo,
    candidates: readonly Candidate[],
    podsOn: (node: string) => readonly PodInfo[],
    signal: AbortSignal,
  ): Promise<Candidate[]> {
    const { nodeCacheCapable, ignorable } = this.config;
    return this.#call('preempt', encodeCandidates(pod.pod, candidates, nodeCacheCapable), signal, (answer) => {
      const said: PreemptAnswer = decodePreempt(answer);
      return candidatesLeft({ pod, candidates, podsOn, now: this.#options.clock.now() }, said, ignorable);
    });
  }

  /** Calls in flight fail. */
  close(): void {
    this.#agents.close();
  }

  async #call<T>(verb: Verb, body: string, signal: AbortSignal, read: (answer: unknown) => T): Promise<T> {
    const { clock, answerBytes = ANSWER_BYTES } = this.#options;
    const url = urlOf(this.config, verb);
    try {
      const answer = await postJson({
        agents: this.#agents,
        url,
        body,
        clock,
        timeoutMs: this.config.httpTimeoutMs,
        mostBytes: answerBytes + 2 * body.length,
        retry: verb !== 'bind', // a resent bind could be a second one
        signal,
      });
      return read(answer);
    } catch (error) {
      signal.throwIfAborted();
      throw new ExtenderError(verbOf(this.config, verb), url, error);
    }
  }
}
