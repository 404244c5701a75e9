import type { Trial } from './next.ts';
import type { ContentRef } from '../checkpoint/payload.ts';
import type { Source } from '../checkpoint/source.ts';
import { sameContent } from '../store/content.ts';
import type { TrialRecord } from '../store/store.ts';

export interface TrialStart {
  source: Source;
  content: ContentRef;
  /** RFC 3339, UTC. */
  now: string;
  bootId: string;
  /** Bytes in the exits file now: ends of a kubelet before this trial are not its own. */
  exitsOffset: number;
}

/**
 * The record of the trial that this start continues, or begins. Health is summed over agent restarts; what the kubelet did in an
 * earlier boot of the machine does not count, and /run with its exits file is gone.
 */
export function openRecord(old: TrialRecord | undefined, { source, content, now, bootId, exitsOffset }: TrialStart): TrialRecord {
  if (!old || !sameContent(old, content)) {
    return { source, ...content, assignedAt: now, healthyMs: 0, unhealthyMs: 0, exits: 0, exitsOffset, bootId };
  }
  if (old.bootId !== bootId) return { ...old, source, unhealthyMs: 0, exits: 0, exitsOffset: 0, bootId };
  return { ...old, source };
}

export function trialOf({ healthyMs, unhealthyMs = 0, exits }: TrialRecord): Trial {
  return { healthyMs, unhealthyMs, exits };
}
