import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Millis } from '../../../../base/clock.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';

/**
 * Watches the server while controllers of one kind of sets work, and notes what must never be, at the moment in which it happens: a delete without a UID, a call
 * on a pod of somebody else's, a second pod of a set in one place.
 */
export class SetInvariants {
  readonly problems: string[] = [];
  /** What changed after this (wall clock) a controller need not know yet. Infinity: it knows everything. */
  unknownSince: () => Millis = () => Infinity;
  readonly #api: LocalApi;
  readonly #kind: string;

  /**
   * @param kind - of the sets
   * @param place - where the pod is to be; undefined for one that people made
   * @param most - pods of the set that may be in one place
   */
  constructor(api: LocalApi, kind: string, place: (pod: Pod) => string | undefined, most: (uid: string) => number) {
    this.#api = api;
    this.#kind = kind;
    api.hooks.storage.onChange((of, { type, object }) => {
      const pod = object as unknown as Pod;
      const owner = of === '/pods' && type === 'ADDED' ? controllerOf(pod) : undefined;
      if (owner?.kind !== kind || place(pod) === undefined || this.unknownSince() !== Infinity) return;
      const pods = api.hooks.storage.list('/pods').objects as unknown as Pod[];
      const there = pods.filter((one) => controllerOf(one)?.uid === owner.uid && place(one) === place(pod) && !isOver(one));
      if (there.length > most(owner.uid))
        this.problems.push(`at ${place(pod)} are ${there.map(({ metadata }) => metadata.name).join(', ')}`);
    });
  }

  /** Of each controller's calls. */
  readonly watching: Interceptor = {
    call: ({ verb, resource, key, body }, pass) => {
      const uid = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid ?? '';
      if (verb === 'delete' && (uid === '' || resource === 'persistentvolumeclaims'))
        this.problems.push(`${resource} ${key} is deleted, UID ${uid}`);
      const pod = resource === 'pods' && (verb === 'delete' || verb === 'patch') ? this.#api.hooks.storage.get('/pods', key) : undefined;
      const owner = pod === undefined ? undefined : controllerOf(pod);
      if (owner !== undefined && owner.kind !== this.#kind)
        this.problems.push(`${verb} on pod ${key}, which is of ${owner.kind} ${owner.name}`);
      return pass();
    },
  };
}

const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

export const isGoing = ({ metadata }: KubeObject | Pod): boolean => metadata.deletionTimestamp !== undefined;
