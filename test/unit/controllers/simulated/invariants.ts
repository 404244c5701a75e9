import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Change } from '../../../../apiserver/storage/watch-log.ts';
import type { Clock, Millis } from '../../../../base/clock.ts';
import { HASH_LABEL } from '../../../../controllers/common/history/contract.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';

/** A change of a pod. */
export interface PodChange {
  object: Pod;
  previous: Pod | undefined;
  type: Change['type'];
}

/**
 * Watches the server while controllers of one kind of sets work, and notes what must never be, at the moment in which it happens: a delete without a UID, a
 * call on a pod of somebody else's, a revision deleted that a pod still has, and, while the controller is told of everything, what holds for the kind.
 */
export abstract class SetInvariants<S extends KubeObject> {
  readonly problems: string[] = [];
  /** What changed after this (wall clock) a controller need not know yet. Infinity: it knows everything. */
  unknownSince: () => Millis = () => Infinity;
  protected readonly api: LocalApi;
  protected readonly clock: Clock;
  readonly #resource: Resource;
  /** UIDs of what controllers have asked to delete. */
  readonly #deleting = new Set<string>();

  protected constructor(api: LocalApi, clock: Clock, resource: Resource) {
    this.api = api;
    this.clock = clock;
    this.#resource = resource;
    api.hooks.storage.onChange((kind, change) => this.#heard(kind, change));
  }

  /** Of each controller's calls. */
  readonly watching: Interceptor = {
    call: ({ verb, resource, key, body }, pass) => {
      if (verb === 'delete') {
        const uid = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid ?? '';
        if (uid === '' || resource === 'persistentvolumeclaims') this.problem(`${resource} ${key} is deleted, UID ${uid}`);
        this.#deleting.add(uid);
      }
      const owner = resource === 'pods' && (verb === 'delete' || verb === 'patch') ? this.#ownerOf(key) : undefined;
      if (owner !== undefined && owner !== this.#resource.kind) this.problem(`${verb} on pod ${key}, which is of a ${owner}`);
      return pass();
    },
  };

  /** A pod was made. */
  protected abstract made(pod: Pod, set: S): void;

  /** A controller marked a pod. */
  protected abstract deleted(pod: Pod, set: S): void;

  #ownerOf(key: string): string | undefined {
    const pod = this.api.hooks.storage.get('/pods', key);
    return pod === undefined ? undefined : controllerOf(pod)?.kind;
  }

  #heard(kind: string, change: Change): void {
    const uid = change.object.metadata.uid ?? '';
    if (this.unknownSince() !== Infinity) return;
    if (kind === '/pods') this.#podChanged(change as unknown as PodChange);
    else if (kind === 'apps/controllerrevisions' && change.type === 'DELETED' && this.#deleting.has(uid)) this.#revisionGone(change.object);
  }

  #podChanged({ object, previous, type }: PodChange): void {
    const owner = controllerOf(object);
    const set = owner?.kind === this.#resource.kind ? this.sets().find(({ metadata }) => metadata.uid === owner.uid) : undefined;
    if (set === undefined || isGoing(set)) return;
    if (type === 'ADDED') this.made(object, set);
    const marked = type === 'DELETED' || isGoing(object);
    if (marked && previous !== undefined && !isGoing(previous) && this.#deleting.has(object.metadata.uid ?? '')) this.deleted(previous, set);
  }

  #revisionGone(revision: KubeObject): void {
    const { name, labels } = revision.metadata;
    const has = this.podsOf(controllerOf(revision)?.uid ?? '').find(
      ({ metadata }) => metadata.labels?.[HASH_LABEL] === (labels?.[HASH_LABEL] ?? name),
    );
    if (has !== undefined) this.problem(`revision ${name} is deleted, and pod ${has.metadata.name} has it`);
  }

  protected sets(): S[] {
    return this.api.hooks.storage.list(`apps/${this.#resource.resource}`).objects as unknown as S[];
  }

  protected podsOf(uid: string | undefined): Pod[] {
    return (this.api.hooks.storage.list('/pods').objects as unknown as Pod[]).filter((pod) => controllerOf(pod)?.uid === uid);
  }

  protected problem(text: string): void {
    this.problems.push(`${new Date(this.clock.now()).toISOString().slice(11, 23)} ${text}`);
  }
}

export const isGoing = ({ metadata }: KubeObject | Pod): boolean => metadata.deletionTimestamp !== undefined;
