import type { TrialRecord } from '../store/store.ts';

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
