import type { SchedulerHooks } from '../core/hooks.ts';
import type { Reservations } from '../reservation/contract.ts';
import type { ReservationHooks } from '../reservation/hooks.ts';
import type { Placeholders } from './placeholders.ts';
import type { SeenPlaceholders } from './seen-placeholders.ts';

/**
 * The part of placeholder pods in scheduling, around that of reservations: they do not count on their nodes, for the reservation does, and are removed before a pod
 * is bound there.
 */
export function placeholderHooks(
  reservation: ReservationHooks,
  { reservations, seen, placeholders }: { reservations: Pick<Reservations, 'of'>; seen: SeenPlaceholders; placeholders: Placeholders },
): SchedulerHooks {
  reservation.onEnded(placeholders.look);
  return {
    ...reservation,
    ignores: (pod) => seen.ignores(pod),
    ignoredPodDeleted(pod) {
      if (!seen.deleted(pod)) return false;
      reservation.recheck(pod.nodeName);
      return true;
    },
    // Before the loop decides: others look for room at this very moment.
    onChange: placeholders.look,
    onReserve(pod, node) {
      const released = reservations.of(pod);
      const reserved = reservation.onReserve(pod, node);
      return {
        async preBind(signal) {
          await reserved?.preBind(signal);
          await placeholders.clear(node, released, signal);
        },
        postBind: () => reserved?.postBind(),
        unreserve: () => reserved?.unreserve(),
        done() {
          reserved?.done();
          if (released !== undefined) placeholders.settled(released);
        },
      };
    },
    start(signal) {
      // Adopted reservations first: what stands for them stays.
      reservation.start(signal);
      placeholders.begin(signal);
    },
    async idle() {
      await Promise.all([reservation.idle(), placeholders.idle()]);
    },
  };
}
