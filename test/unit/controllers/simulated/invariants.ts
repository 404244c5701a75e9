import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Change } from '../../../../apiserver/storage/watch-log.ts';
import type { Clock, Millis } from '../../../../base/clock.ts';
import type { Revision } from '../../../../controllers/common/history/contract.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { jsonEqual } from '../../../../kube/api/json.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { Interceptor, SeenCall } from '../../../support/simulated/intercepted.ts';
import type { Checked } from '../../../support/simulated/play-randomly.ts';

/** A change of a pod. */
export interface PodChange {
  object: Pod;
  previous: Pod | undefined;
  type: Change['type'];
}

/**
 * Watches the server itself while controllers of one kind of sets work, and notes what must never be, at the moment in which it happens: a delete without a UID, a
 * call on a pod of somebody else's, a revision deleted that a pod still has, and what holds for the kind.
 */
export abstract class SetInvariants<S extends KubeObject> {
  readonly problems: string[] = [];
  readonly checked: Checked = { creations: 0, deletions: 0, excused: 0 };
  /** What changed after this (wall clock) a controller need not know yet. Infinity: it knows everything. */
  unknownSince: () => Millis = () => Infinity;
  /** Two controllers work, or did a moment ago: what both do they may do twice. */
  rivals: () => boolean = () => false;
  protected readonly api: LocalApi;
  protected readonly clock: Clock;
  /** UIDs of what controllers have asked to delete. */
  protected readonly deleting = new Set<string>();
  /** Wall clock, of the last change that a decision rests on: of sets by UID, and of what else the kind rests on. */
  protected readonly changed = new Map<string, Millis>();
  readonly #resource: Resource;
  /** When a pod was last asked for, by UID of the set. */
  readonly #asking = new Map<string, Millis>();

  protected constructor(api: LocalApi, clock: Clock, resource: Resource) {
    this.api = api;
    this.clock = clock;
    this.#resource = resource;
    api.hooks.storage.onChange((kind, change) => this.#heard(kind, change));
  }

  /** Of each controller's calls. */
  readonly watching: Interceptor = {
    call: (call, pass) => {
      this.#asked(call);
      return this.passed(call, pass);
    },
  };

  protected passed(_call: SeenCall, pass: () => Promise<unknown>): Promise<unknown> {
    return pass();
  }

  protected abstract podChanged(change: PodChange): void;

  /** Of any other kind. */
  protected abstract otherChanged(kind: string, change: Change): void;

  /** What a revision and the pods that have it are called by. */
  protected abstract podsOfRevision(revision: Revision, set: S): Pod[];

  #asked({ verb, resource, key, body }: SeenCall): void {
    if (verb === 'delete') {
      const uid = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid ?? '';
      if (uid === '') this.problem(`${resource} ${key} is deleted without its UID`);
      if (resource === 'persistentvolumeclaims') this.problem(`claim ${key} is deleted by a controller`);
      this.deleting.add(uid);
    }
    if (resource !== 'pods') return;
    if (verb === 'create') this.#asking.set(controllerOf(body as Pod)?.uid ?? '', this.clock.now());
    if (verb !== 'delete' && verb !== 'patch') return;
    const pod = this.api.hooks.storage.get('/pods', key);
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (owner !== undefined && owner.kind !== this.#resource.kind)
      this.problem(`${verb} on pod ${key}, which is of ${owner.kind} ${owner.name}`);
  }

  #heard(kind: string, change: Change): void {
    const { object, previous, type } = change;
    const { uid = '' } = object.metadata;
    if (kind === `apps/${this.#resource.resource}`) {
      const [before, after] = [previous?.metadata, object.metadata];
      if (type === 'DELETED' || before?.generation !== after.generation || !jsonEqual(before?.annotations ?? {}, after.annotations ?? {}))
        this.changed.set(uid, this.clock.now());
    } else if (kind === '/pods') this.podChanged(change as unknown as PodChange);
    else if (kind === 'apps/controllerrevisions' && type === 'DELETED' && this.deleting.has(uid)) this.#revisionGone(object as Revision);
    else this.otherChanged(kind, change);
  }

  #revisionGone(revision: Revision): void {
    const set = this.setOf(controllerOf(revision)?.uid ?? '');
    if (set === undefined || this.rivals() || this.unknownSince() !== Infinity) return;
    const [has] = this.podsOfRevision(revision, set);
    if (has !== undefined) this.problem(`revision ${revision.metadata.name} is deleted, and pod ${has.metadata.name} has it`);
  }

  /** What is on its way when the set goes, or comes late, is the garbage collector's. */
  protected madeForNobody(what: string, uid: string): void {
    if ((this.#asking.get(uid) ?? 0) > (this.changed.get(uid) ?? 0) && !this.isUnknown(uid)) this.problem(`${what} for a set that is gone`);
  }

  protected isUnknown(what: string): boolean {
    return (this.changed.get(what) ?? 0) >= this.unknownSince();
  }

  protected setOf(uid: string): S | undefined {
    return this.sets().find(({ metadata }) => metadata.uid === uid);
  }

  protected sets(): S[] {
    return this.api.hooks.storage.list(`apps/${this.#resource.resource}`).objects as unknown as S[];
  }

  protected problem(text: string): void {
    this.problems.push(`${new Date(this.clock.now()).toISOString().slice(11, 23)} ${text}`);
  }
}
