import { describeError } from '../../base/errors.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { rightsText, type Right } from './rights.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Check } from '../../kube/serving/checks.ts';

const reviews: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

type Review = KubeObject & { status?: { allowed?: boolean } };

/** How soon a right that was granted is noticed. */
const AGAIN_MS: Millis = 5_000;

export interface CheckRightsOptions {
  client: Pick<Client, 'create'>;
  clock: Clock;
  log: Log;
  /** @default 5 s */
  againMs?: Millis;
}

/**
 * Asks the server what this process may do, before the first pod of a node fails for it. Everybody may ask that of themselves; where a server does not
 * answer the question, nothing is said.
 */
export class RightsCheck {
  readonly #rights: readonly Right[];
  readonly #options: CheckRightsOptions;
  #missing: readonly Right[] = [];

  constructor(rights: readonly Right[], options: CheckRightsOptions) {
    this.#rights = rights;
    this.#options = options;
  }

  /** Fails while a vital right is known to be missing. */
  readonly check: Check = {
    name: 'rights',
    problem: () => (this.#missing.some(({ vital }) => vital) ? this.#words() : undefined),
    detail: () => this.#words(),
  };

  /** Until all are there, or the signal aborts. Does not throw. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, againMs = AGAIN_MS } = this.#options;
    while (!signal.aborted) {
      try {
        this.#learn(await this.#ask(signal));
        if (this.#missing.length === 0) return;
      } catch (error) {
        if (signal.aborted) return;
        log.debug('failed to check rights', { error: describeError(error) });
        // Some servers have no such question, or answer it to nobody.
        if (isForbidden(error) || isNotFound(error)) return;
      }
      await clock.sleep(againMs, signal).catch(() => {});
    }
  }

  async #ask(signal: AbortSignal): Promise<Right[]> {
    const asked = await Promise.all(this.#rights.map(async (right) => ({ right, isAllowed: await this.#isAllowed(right, signal) })));
    return asked.filter(({ isAllowed }) => !isAllowed).map(({ right }) => right);
  }

  async #isAllowed({ verb, group, resource, subresource, namespace, name }: Right, signal: AbortSignal): Promise<boolean> {
    const review = { metadata: {}, spec: { resourceAttributes: { verb, group, version: 'v1', resource, subresource, namespace, name } } };
    const { status } = await this.#options.client.create<Review>(reviews, review, { signal });
    return status?.allowed === true;
  }

  #learn(missing: readonly Right[]): void {
    const { log } = this.#options;
    const before = rightsText(this.#missing);
    this.#missing = missing;
    const now = rightsText(missing);
    if (now === before) return;
    if (now === '') log.info('all rights granted');
    else log.warn('missing rights', { missing: now, vital: missing.some(({ vital }) => vital) });
  }

  #words(): string {
    return this.#missing.length === 0 ? 'no missing rights known' : `missing: ${rightsText(this.#missing)}`;
  }
}
