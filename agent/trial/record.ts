import { inThisBoot, type ThisBoot } from './boots.ts';
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
  boot: ThisBoot;
  /** Bytes in the exits file now: ends of a kubelet before this trial are not its own. */
  exitsOffset: number;
}

/**
 * The record of the trial that this start continues, or begins. Health is summed over agent restarts; what the kubelet did in an
 * earlier boot of the machine does not count unless that boot ended badly, and /run with its exits file is gone.
 */
export function openRecord(old: TrialRecord | undefined, { source, content, now, boot, exitsOffset }: TrialStart): TrialRecord {
  if (!old || !sameContent(old, content)) {
    return { source, ...content, assignedAt: now, healthyMs: 0, unhealthyMs: 0, exits: 0, exitsOffset, bootId: boot.bootId };
  }
  return { ...inThisBoot(old, boot), source };
}

export function trialOf({ healthyMs, unhealthyMs = 0, exits, uncleanBoots }: TrialRecord): Trial {
  return { healthyMs, unhealthyMs, exits, ...(uncleanBoots === undefined ? {} : { uncleanBoots }) };
}
