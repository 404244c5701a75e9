import type { Key } from '../../kube/cache/contract.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation } from '../reservation/contract.ts';
import { exceeds, placeholderKey, standsFor } from './placeholder-pod.ts';

/** A pod that stands for kept room, as far as it is known. */
export interface PlaceholderPod {
  readonly key: Key;
  readonly node: string;
  /** Of the pod whose room it stands for. */
  readonly oldUid: string;
  /** '': nobody knows whether it is there. */
  readonly uid: string;
  /** As it was last seen. */
  readonly info: PodInfo | undefined;
}

export interface PlaceholderFacts {
  readonly kept: readonly Reservation[];
  /** Rooms that are released to pods which are being bound right there: until the binding itself, what stands for them stands. */
  readonly given: readonly Reservation[];
  /** Uids of pods that went, whose successors are to be bound as soon as nothing stands for the room any more. */
  readonly due: ReadonlySet<string>;
  readonly placeholders: readonly PlaceholderPod[];
  /** Uids of pods that went, for whose room one was made: nobody makes a second one after somebody else took the first away, or refused it. */
  readonly had: ReadonlySet<string>;
}

export interface PlaceholderPlan {
  readonly make: readonly Reservation[];
  /** What must be gone before anybody is bound to its node. */
  readonly remove: readonly { readonly placeholder: PlaceholderPod; readonly why: string }[];
}

/**
 * Which pods are to stand for kept room, and which no longer. Room that somebody has claimed already is about to be used: for that none is made, but one that is
 * there stays. The pod that went is gone from the API before its room is kept, so the two of them are never on the node together.
 */
export function planPlaceholders({ kept, given, due, placeholders, had }: PlaceholderFacts): PlaceholderPlan {
  const rooms = new Map([...given, ...kept].filter(({ oldUid }) => !due.has(oldUid)).map((room) => [placeholderKey(room), room]));
  const known = new Set(placeholders.filter(({ uid }) => uid !== '').map(({ key }) => key));
  return {
    make: kept.filter((room) => {
      const { state, oldUid } = room;
      return state === 'active' && !due.has(oldUid) && !had.has(oldUid) && !known.has(placeholderKey(room));
    }),
    remove: placeholders.flatMap((placeholder) => {
      const why = whyNot(placeholder, rooms.get(placeholder.key));
      return why === undefined ? [] : [{ placeholder, why }];
    }),
  };
}

function whyNot({ key, node, oldUid, info }: PlaceholderPod, room: Reservation | undefined): string | undefined {
  if (room === undefined || room.node !== node || room.oldUid !== oldUid) return 'the reservation ended';
  if (info === undefined) return undefined;
  if (info.key !== key || !standsFor(room, info)) return 'it is not the pod that was created';
  return exceeds(room, info) ? 'it requests more than is reserved' : undefined;
}
