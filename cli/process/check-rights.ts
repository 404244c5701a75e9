import { resourceName, type KubeObject, type Resource } from '../../kube/api/object.ts';
import { describeError } from '../../base/errors.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
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

/** Interval of checks while rights are missing. */
const RETRY_MS: Millis = 5_000;

export interface CheckRightsOptions {
  client: Pick<Client, 'create'>;
  clock: Clock;
  log: Log;
  /** @default 5 s */
  retryMs?: Millis;
}

/**
 * Checks the rights of this process with SelfSubjectAccessReviews, so that a missing right is reported before the first request fails. Every user may create
 * these reviews; if a server forbids or does not serve them, nothing is reported.
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
    problem: () => (this.#missing.some(({ vital }) => vital) ? this.#describe() : undefined),
    detail: () => this.#describe(),
  };

  /** Checks until all rights are granted, or the signal aborts. Does not throw. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, retryMs = RETRY_MS } = this.#options;
    while (!signal.aborted) {
      try {
        this.#update(await missingRights(this.#options.client, this.#rights, signal));
        if (this.#missing.length === 0) return;
      } catch (error) {
        if (signal.aborted) return;
        log.debug('failed to check rights', { error: describeError(error) });
        // Some servers do not serve these reviews, or forbid them.
        if (isForbidden(error) || isNotFound(error)) return;
      }
      await clock.sleep(retryMs, signal).catch(() => {});
    }
  }

  #update(missing: readonly Right[]): void {
    const { log } = this.#options;
    const before = rightsText(this.#missing);
    this.#missing = missing;
    const now = rightsText(missing);
    if (now === before) return;
    if (now === '') log.info('all rights granted');
    else log.warn('missing rights', { missing: now, vital: missing.some(({ vital }) => vital) });
  }

  #describe(): string {
    return this.#missing.length === 0 ? 'no missing rights found' : `missing: ${rightsText(this.#missing)}`;
  }
}

/** The rights that the API server does not grant to the user of this client. @throws ApiError, TransportError */
export async function missingRights(client: Pick<Client, 'create'>, rights: readonly Right[], signal: AbortSignal): Promise<Right[]> {
  const asked = await Promise.all(rights.map(async (right) => ({ right, isAllowed: await isAllowed(client, right, signal) })));
  return asked.filter(({ isAllowed }) => !isAllowed).map(({ right }) => right);
}

async function isAllowed(
  client: Pick<Client, 'create'>,
  { verb, group, resource, subresource, namespace, name }: Right,
  signal: AbortSignal,
): Promise<boolean> {
  const review = { metadata: {}, spec: { resourceAttributes: { verb, group, version: 'v1', resource, subresource, namespace, name } } };
  const { status } = await client.create<Review>(reviews, review, { signal });
  return status?.allowed === true;
}

/** A right that this process needs. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  /** '' = all namespaces, or a kind without namespaces. */
  namespace: string;
  /** Only for the object of this name. */
  name?: string;
  /** true: nothing works without this right. false: it is needed only for events or by some servers. */
  vital: boolean;
}

/** Rights for leader election. */
export function leaseRights(leaderElect: false | LeaseOptions): Right[] {
  if (leaderElect === false) return [];
  const rights = rightsIn(leaderElect.namespace);
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  return [...rights('create', leases), ...rights('get update', { ...leases, name: leaderElect.name })];
}

/** Vital rights for verbs such as `list watch` in a namespace; '' = all namespaces. */
export const rightsIn =
  (namespace: string) =>
  (verbs: string, of: Omit<Right, 'verb' | 'namespace' | 'vital'> & Partial<Right>): Right[] =>
    verbs.split(' ').map((verb) => ({ verb, namespace, vital: true, ...of }));

/** Removes duplicates; a right is vital if one of its duplicates is. */
export function distinctRights(rights: readonly Right[]): Right[] {
  return [...Map.groupBy(rights, keyOf).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, vital: same.some(({ vital }) => vital) }];
  });
}

const keyOf = ({ verb, group, resource, subresource = '', namespace, name = '' }: Right): string =>
  [verb, group, resource, subresource, namespace, name].join('/');

/** For people, grouped by kind: `list, watch nodes; create pods in namespace a`. */
export function rightsText(rights: readonly Right[]): string {
  const byKind = Map.groupBy(rights, (right) => {
    const kind = resourceName(right) + (right.subresource === undefined ? '' : `/${right.subresource}`);
    const which = right.name === undefined ? '' : ` ${right.name}`;
    return `${kind}${which}${right.namespace === '' ? '' : ` in namespace ${right.namespace}`}`;
  });
  return [...byKind].map(([kind, of]) => `${of.map(({ verb }) => verb).join(', ')} ${kind}`).join('; ');
}
