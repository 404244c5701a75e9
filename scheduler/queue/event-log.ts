import type { ClusterEvent } from '../cluster-event.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** Something that happened, and whom it was told to. */
export interface Happening {
  readonly event: ClusterEvent;
  /** Undefined: all. */
  readonly only: ((info: PodInfo) => boolean) | undefined;
}

/** A moment between two happenings. Holding it keeps what came after it in memory, and nothing before. */
export interface Moment {
  next: (Moment & { readonly happening: Happening }) | undefined;
}

/**
 * What happened while pods were in flight: one chain for all of them, of which each holds the link at which it set out. What nobody in flight can
 * ask for any more is garbage by itself, so nothing has to be cut off.
 */
export class EventLog {
  #last: Moment = { next: undefined };

  get now(): Moment {
    return this.#last;
  }

  add(happening: Happening): void {
    const link = { happening, next: undefined };
    this.#last.next = link;
    this.#last = link;
  }

  /** Nobody asks for anything any more: also the last happening is let go. */
  forget(): void {
    this.#last = { next: undefined };
  }
}

/** What happened after a moment, oldest first. */
export function* happenedSince(moment: Moment): Generator<Happening> {
  for (let link = moment.next; link !== undefined; link = link.next) yield link.happening;
}
