import type { Trial } from './next.ts';
import type { ContentRef, Source } from '../checkpoint/source.ts';
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

export interface ThisBoot {
  /** Names the boot that runs; '' where the kernel does not tell. */
  bootId: string;
  /** The boot that the last clean stop on record belongs to. */
  stoppedIn: string | undefined;
}

/**
 * The record of a trial as this boot of the machine finds it. Exits of the kubelet count within one boot. A boot that no clean stop went before
 * counts as one exit, is kept over boots, and sets health back: a config that panics the machine leaves no other trace.
 */
export function inThisBoot(record: TrialRecord, { bootId, stoppedIn }: ThisBoot): TrialRecord {
  if (bootId === '' || record.bootId === bootId) return record;
  const { uncleanBoots = 0 } = record;
  const moved: TrialRecord = { ...record, bootId, unhealthyMs: 0, exits: 0, exitsOffset: 0 };
  const isClean = record.bootId === '' || stoppedIn === record.bootId;
  return isClean ? moved : { ...moved, healthyMs: 0, uncleanBoots: uncleanBoots + 1 };
}
