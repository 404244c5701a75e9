import { backoff } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isNotFound, mayHaveTakenEffect, serverWords } from '../../kube/client/errors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Pod } from '../types.ts';

/** What became of a binding. */
export type Bound =
  /** It is on the node. */
  | { is: 'bound' }
  /** It is not, and is to be tried again. `mayCome`: what was asked for may still be on its way. */
  | { is: 'refused'; message: string; mayCome: boolean }
  /** Nothing is left to bind: the pod is gone, or somewhere else, or on its way out. */
  | { is: 'irrelevant'; why: string };

export interface BinderOptions {
  client: Pick<Client, 'post' | 'get'>;
  clock: Clock;
  random: Random;
}

const LOOK_AGAIN = { base: 200, cap: 5_000 };
const CALL_MS: Millis = 30_000;
const GATEWAY_TIMEOUT = 504;

/**
 * Tells the API server where a pod goes, by name and uid: another pod under the same name stays unbound. When an answer is missing or says no, the pod is looked
 * at, for nothing else tells whether it is bound; a binding is never sent twice without that.
 */
export class Binder {
  readonly #options: BinderOptions;

  constructor(options: BinderOptions) {
    this.#options = options;
  }

  /** @throws the signal's reason: nobody knows then */
  async bind({ namespace, name, uid }: PodInfo, node: string, signal: AbortSignal): Promise<Bound> {
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    try {
      await this.#options.client.post(pods, { namespace, name }, 'binding', binding, { signal, timeoutMs: CALL_MS });
      return { is: 'bound' };
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) return { is: 'irrelevant', why: 'it is gone' };
      return await this.look({ namespace, name, uid }, node, { said: serverWords(error), mayCome: isUnanswered(error) }, signal);
    }
  }

  /** Whether the pod is on the node, asked until somebody answers. @param refused - why it should not be */
  async look(
    { namespace, name, uid }: Pick<PodInfo, 'namespace' | 'name' | 'uid'>,
    node: string,
    refused: { readonly said: string; readonly mayCome: boolean },
    signal: AbortSignal,
  ): Promise<Bound> {
    const { client, clock, random } = this.#options;
    for (let failures = 0; ; failures++) {
      try {
        const { metadata, spec } = await client.get<Pod>(pods, { namespace, name }, { signal, timeoutMs: CALL_MS });
        if (metadata.uid !== uid) return { is: 'irrelevant', why: 'another pod has its name now' };
        const { nodeName = '' } = spec ?? {};
        if (nodeName === node) return { is: 'bound' };
        if (nodeName !== '') return { is: 'irrelevant', why: `it is on node ${nodeName}` };
        if (metadata.deletionTimestamp !== undefined) return { is: 'irrelevant', why: 'it is being deleted' };
        return { is: 'refused', message: refused.said, mayCome: refused.mayCome };
      } catch (error) {
        signal.throwIfAborted();
        if (isNotFound(error)) return { is: 'irrelevant', why: 'it is gone' };
        await clock.sleep(backoff(failures + 1, LOOK_AGAIN, random), signal);
      }
    }
  }
}

/** The server may be at it still: it has not answered, or gave up waiting for itself. What it refused, or failed at, is over. */
function isUnanswered(error: unknown): boolean {
  return mayHaveTakenEffect(error) && !(error instanceof ApiError && error.code !== GATEWAY_TIMEOUT);
}

/** An error of anything else that was to be done before binding. */
export function refusedBy(error: unknown): Bound {
  return { is: 'refused', message: describeError(error), mayCome: false };
}
