import type { Told } from '../common/news.ts';
import type { WakeUp } from '../common/wake-ups.ts';
import type { PodTemplate } from './types.ts';
import type { Pod } from './types.ts';

export interface Creation {
  node: string;
  /** Of the revision that the pod is made of. */
  hash: string;
  template: Readonly<PodTemplate>;
  /** The template is the set's present one. */
  present: boolean;
}

/**
 * Why a pod goes. misplaced: its node may not keep it; surplus: there is another; failed, succeeded: it has ended; vanished: its node is gone and it
 * never got there; update: it is to be replaced; surged: its successor is there.
 */
export type Because = 'misplaced' | 'surplus' | 'failed' | 'succeeded' | 'vanished' | 'update' | 'surged';

export interface Deletion {
  pod: Readonly<Pod>;
  node: string;
  because: Because;
}

/** What is to be done to pods; parts of it are put together by `manage`, `planUpdate` and `planSurge`. */
export interface PodActions {
  creations: Creation[];
  deletions: Deletion[];
  events: Told[];
  wakeUps: WakeUp[];
}

export function noActions(): PodActions {
  return { creations: [], deletions: [], events: [], wakeUps: [] };
}
