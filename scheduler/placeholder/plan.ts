import type { Key } from '../../kube/cache/contract.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation } from '../reservation/contract.ts';
import { exceeds, placeholderKey, standsFor } from './placeholder-pod.ts';

/** What is known of a placeholder pod. */
export interface PlaceholderPod {
  readonly key: Key;
  readonly node: string;
  /** UID of the deleted pod whose reservation it holds. */
  readonly oldUid: string;
  /** '' while it is unknown whether the pod exists. */
  readonly uid: string;
  /** As it was last seen. */
  readonly info: PodInfo | undefined;
}

export interface PlaceholderFacts {
  readonly kept: readonly Reservation[];
  /** Reservations released to pods that are being bound to the same node: their placeholder pods stay until right before the binding. */
  readonly given: readonly Reservation[];
  /** UIDs of deleted pods whose successors are bound as soon as the placeholder pod is gone. */
  readonly due: ReadonlySet<string>;
  readonly placeholders: readonly PlaceholderPod[];
  /** UIDs of deleted pods for whose reservation one was created: there is no second one after another client deleted the first, or the server refused it. */
  readonly had: ReadonlySet<string>;
}

export interface PlaceholderPlan {
  readonly make: readonly Reservation[];
  /** Must be deleted before any pod is bound to their node. */
  readonly remove: readonly { readonly placeholder: PlaceholderPod; readonly why: string }[];
}

/**
 * Which placeholder pods to create and which to delete. A reservation that a successor has claimed is about to be used: none is created for it, and an existing
 * one stays. The deleted pod is gone from the API before its capacity is reserved, so that it and its placeholder pod are never on the node together.
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
