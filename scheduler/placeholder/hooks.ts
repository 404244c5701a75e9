import type { SchedulerHooks } from '../core/hooks.ts';
import type { Reservations } from '../reservation/contract.ts';
import type { ReservationHooks } from '../reservation/hooks.ts';
import type { Placeholders } from './placeholders.ts';
import type { SeenPlaceholders } from './seen-placeholders.ts';

/**
 * Hooks of placeholder pods, around those of reservations: placeholder pods are not counted on their nodes, because the reservation is, and are deleted before
 * a pod is bound there.
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
    // Before the next scheduling attempt: other schedulers may bind pods to the node at any moment.
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
      // Reservations that were restored come first: their placeholder pods are kept.
      reservation.start(signal);
      placeholders.begin(signal);
    },
    async idle() {
      await Promise.all([reservation.idle(), placeholders.idle()]);
    },
  };
}
