import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { Reservation } from '../reservation/contract.ts';
import type { VolumeDecision } from '../volumes/contract.ts';
import type { Candidate } from '../preempt/contract.ts';

/** A pod counts on its node from now on; the API server is to hear of it. */
export interface Placing {
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly node: string;
  readonly volumes: VolumeDecision;
  /** Room that was kept for it, to be given back should it come to nothing. */
  readonly released: Reservation | undefined;
}

/** A pod found no place. */
export interface Refusal {
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  /** Unschedulable: it was looked at and refused; SchedulerError: something went wrong. */
  readonly reason: 'Unschedulable' | 'SchedulerError';
  /** As people read it, and as the pod's condition has it. */
  readonly message: string;
  /** The node it is promised from now on, '' for none any more; undefined: as before. */
  readonly nominate: string | undefined;
  readonly preempt: { readonly chosen: Candidate; readonly unnominate: readonly PodInfo[] } | undefined;
}

/** How an attempt ended. */
export type Outcome = ({ did: 'placed' } & Placing) | ({ did: 'refused' } & Refusal);
