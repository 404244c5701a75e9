import { type ContentRef, type MaybeSource, sameSource, type Source } from '../checkpoint/source.ts';
import type { Stage } from '../evaluate/evaluate.ts';
import { statusErrors } from '../status/node-config-state.ts';
import { sameContent } from '../checkpoint/payload.ts';

/** The config that one of the two records names, as far as it can be used. */
export type Candidate =
  /** The record names the local config. */
  | { at: 'none' }
  /** The record is missing or damaged, so its value is unknown: it may have named a config. */
  | { at: 'unknown' }
  | {
      at: 'usable';
      source: Source;
      content: ContentRef;
      effective: Uint8Array;
      /** Set where this node requires signatures. */ signedBy?: string;
    }
  | {
      at: 'unusable';
      source: Source;
      stage: Stage;
      problem: string;
      /** Its effective file, where a missing signature is its only fault. */ unsigned?: Uint8Array;
    }
  | { at: 'condemned'; source: Source; by: 'agent' | 'admin'; reason: string };

/** The local config, as far as it can be used. */
export type LocalCandidate = { at: 'usable'; effective: Uint8Array } | { at: 'missing' } | { at: 'broken'; problem: string };

export interface BootFacts {
  assigned: Candidate;
  lastKnownGood: Candidate;
  local: LocalCandidate;
  /** A meta file is damaged: reported in the status even when the config is usable. */
  damagedMeta: boolean;
  /** The effective file on disk. */
  current: { at: 'missing' } | { at: 'usable'; bytes: Uint8Array } | { at: 'unusable' };
  /** The effective file is the rendering of the condemned assigned config: it must not be kept. */
  currentIsRefused: boolean;
  /** Whether kubelet-sync restarts a kubelet unit on the effective file (`--kubelet-unit` is set). */
  handsOver: boolean;
}

export type EffectiveStep = { do: 'write'; bytes: Uint8Array } | { do: 'keep' } | { do: 'write-minimal' };

export interface BootPlan {
  used: 'assigned' | 'last-known-good' | 'local';
  source: MaybeSource;
  content?: ContentRef;
  error: string | null;
  /** For the log: why the assigned config is or is not used. */
  why: string;
  effective: EffectiveStep;
  /** The assigned source, where it has the content of last-known-good under another name: it becomes last-known-good at once. */
  promote?: Source;
  /** A missing signature is the only fault of the assigned config. */
  unsigned?: true;
}

/**
 * Upstream's boot table, which goes on where upstream exits: assigned, else last-known-good, else local, and always a file that a kubelet can start on.
 *
 * | assigned                          | last-known-good | used            | error                                   |
 * | none                              | any             | local           | -                                       |
 * | usable                            | any             | assigned        | -                                       |
 * | unusable, condemned, unknown      | usable          | last-known-good | why the assigned is not used            |
 * | unusable, condemned, unknown      | anything else   | local           | why the assigned is not used            |
 * Where local leaves the kubelet without a file, a last-known-good whose only fault is a missing signature is used after all.
 * A damaged record adds `internal failure` where there is no other error; so does a kubelet (`--kubelet-unit`) that is left without a usable file.
 */
export function planBoot(facts: BootFacts): BootPlan {
  const { assigned, lastKnownGood } = facts;
  const damage = facts.damagedMeta ? statusErrors.internal : null;
  const { lacking, ...localPlan } = local(facts);
  if (assigned.at === 'none') return { ...localPlan, error: damage ?? lacking, why: 'nothing is assigned' };
  if (assigned.at === 'usable') {
    const { source, content, effective, signedBy } = assigned;
    const trusted = lastKnownGood.at === 'usable' && sameContent(lastKnownGood.content, content) ? lastKnownGood.source : undefined;
    return {
      used: 'assigned',
      source,
      content,
      error: damage,
      why: signedBy === undefined ? 'the assigned config is usable' : `the assigned config is usable, signed by ${signedBy}`,
      effective: { do: 'write', bytes: effective },
      ...(trusted && !sameSource(trusted, source) ? { promote: source } : {}),
    };
  }
  const { error, why } = whyNotUsed(assigned);
  const unsigned = assigned.at === 'unusable' && assigned.unsigned ? { unsigned: true as const } : {};
  if (lastKnownGood.at === 'usable') {
    const { source, content, effective } = lastKnownGood;
    return { used: 'last-known-good', source, content, error, why, effective: { do: 'write', bytes: effective }, ...unsigned };
  }
  const kept = leavesNoFile(facts, localPlan.effective) ? lastResort(lastKnownGood) : undefined;
  return kept ? { ...kept, error, why: `${why}; ${kept.why}`, ...unsigned } : { ...localPlan, error, why, ...unsigned };
}

/** Whether local would leave the kubelet without a file of its own. A file that `lastResort` wrote in an earlier boot does not count as one. */
function leavesNoFile({ current, lastKnownGood }: BootFacts, { do: step }: EffectiveStep): boolean {
  if (step === 'write') return false;
  if (step === 'write-minimal' || current.at !== 'usable') return true;
  return lastKnownGood.at === 'unusable' && lastKnownGood.unsigned !== undefined && isSame(lastKnownGood.unsigned, current.bytes);
}

/**
 * The unsigned last-known-good of a node that has no other file for its kubelet. It was trusted before signatures were required or before the key was
 * removed: a policy must never leave a node without a kubelet. No new config gets in this way. The plan omits `content`: otherwise an assigned config
 * of the same content would count as active, which would clear the error.
 */
function lastResort(lastKnownGood: Candidate): Omit<BootPlan, 'error'> | undefined {
  if (lastKnownGood.at !== 'unusable' || !lastKnownGood.unsigned) return undefined;
  const { source, unsigned } = lastKnownGood;
  const why = 'the last known good config is not signed, and used because there is no other file for the kubelet';
  return { used: 'last-known-good', source, why, effective: { do: 'write', bytes: unsigned } };
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);

function whyNotUsed(assigned: Exclude<Candidate, { at: 'none' | 'usable' }>): { error: string; why: string } {
  switch (assigned.at) {
    case 'unknown':
      return { error: statusErrors.internal, why: 'the record of the assigned config is missing or was damaged' };
    case 'condemned':
      return {
        error: assigned.by === 'admin' ? statusErrors.rolledBack : statusErrors.failedTrial,
        why: `the assigned config is condemned: ${assigned.reason}`,
      };
    case 'unusable':
      return { error: statusErrors[assigned.stage], why: assigned.problem };
  }
}

/**
 * Without a usable local config, the existing effective file is the best guess and is kept. Where there is none, nothing is written for the kubelet of
 * `--kubelet-unit`: a file with all defaults would cut the node off. Only without `--kubelet-unit` is a file with all defaults written.
 */
function local(facts: BootFacts): Pick<BootPlan, 'used' | 'source' | 'effective'> & { lacking: string | null } {
  const chosen = { used: 'local', source: null } as const;
  if (facts.local.at === 'usable') return { ...chosen, effective: { do: 'write', bytes: facts.local.effective }, lacking: null };
  const stays = facts.current.at === 'usable' && !facts.currentIsRefused;
  if (stays || facts.handsOver) {
    const lacking = facts.current.at === 'usable' ? null : statusErrors.internal;
    return { ...chosen, effective: { do: 'keep' }, lacking };
  }
  return { ...chosen, effective: { do: 'write-minimal' }, lacking: null };
}
