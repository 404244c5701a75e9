import { type ContentRef, type MaybeSource, sameSource, type Source } from '../checkpoint/source.ts';
import type { Stage } from '../evaluate/evaluate.ts';
import { statusErrors } from '../status/node-config-state.ts';
import { sameContent } from '../checkpoint/payload.ts';
import type { KubeletFacts } from '../config/contract.ts';
import type { AgentOptions } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

/** What stands behind one of the two records. */
export type Candidate =
  /** The record says: local. */
  | { at: 'none' }
  /** The record is missing or was damaged: nobody knows what it said (design Q5). */
  | { at: 'unknown' }
  | {
      at: 'usable';
      source: Source;
      content: ContentRef;
      effective: Uint8Array;
      /** Where this node asks for signatures. */ signedBy?: string;
    }
  | {
      at: 'unusable';
      source: Source;
      stage: Stage;
      problem: string;
      /** Its effective file where a signature is all that it lacks. */ unsigned?: Uint8Array;
    }
  | { at: 'condemned'; source: Source; by: 'agent' | 'admin'; reason: string };

/** The local config, as far as it can be used. */
export type LocalCandidate = { at: 'usable'; effective: Uint8Array } | { at: 'missing' } | { at: 'broken'; problem: string };

export interface BootFacts {
  assigned: Candidate;
  /** The record as it is; also when its candidate was never looked at. */
  lastKnownGood: Candidate;
  local: LocalCandidate;
  /** A meta file was found damaged in this boot: said in status even when the config is fine. */
  damagedMeta: boolean;
  /** The effective file on disk. */
  current: { at: 'missing' } | { at: 'usable'; bytes: Uint8Array } | { at: 'unusable' };
  /** The effective file is what the condemned or refused assigned would be: it must not simply stay. */
  currentIsRefused: boolean;
  /** A kubelet's unit is restarted on what is written here (`--kubelet-unit`). */
  handsOver: boolean;
}

export type EffectiveStep = { do: 'write'; bytes: Uint8Array } | { do: 'keep' } | { do: 'write-minimal' };

export interface BootPlan {
  used: 'assigned' | 'last-known-good' | 'local';
  source: MaybeSource;
  content?: ContentRef;
  error: string | null;
  /** For the log: why not the assigned. */
  why: string;
  effective: EffectiveStep;
  /** The assigned has the content that is already trusted, under another name: last-known-good follows at once. */
  promote?: Source;
  /** A signature is all that the assigned config lacks. */
  unsigned?: true;
}

/**
 * The boot table of spec 5 with our Q5: assigned, else last-known-good, else local, and always a file a kubelet can start on.
 *
 * | assigned                          | last-known-good | used            | error                                   |
 * | none                              | any             | local           | -                                       |
 * | usable                            | any             | assigned        | -                                       |
 * | unusable, condemned, unknown      | usable          | last-known-good | why the assigned is not used            |
 * | unusable, condemned, unknown      | anything else   | local           | why the assigned is not used            |
 * Where local leaves the kubelet without a file, a last-known-good that lacks nothing but a signature is used after all.
 * A damaged record of either kind adds `internal failure` where there is no other error; so does a kubelet of ours that is left without any file.
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
  const { error, why } = reasonAgainst(assigned);
  const unsigned = assigned.at === 'unusable' && assigned.unsigned ? { unsigned: true as const } : {};
  if (lastKnownGood.at === 'usable') {
    const { source, content, effective } = lastKnownGood;
    return { used: 'last-known-good', source, content, error, why, effective: { do: 'write', bytes: effective }, ...unsigned };
  }
  const kept = leavesNoFile(facts, localPlan.effective) ? lastResort(lastKnownGood) : undefined;
  return kept ? { ...kept, error, why: `${why}; ${kept.why}`, ...unsigned } : { ...localPlan, error, why, ...unsigned };
}

/** Whether local would leave the kubelet without a file of its own; the file that a last resort wrote before is none. */
function leavesNoFile({ current, lastKnownGood }: BootFacts, { do: step }: EffectiveStep): boolean {
  if (step === 'write') return false;
  if (step === 'write-minimal' || current.at !== 'usable') return true;
  return lastKnownGood.at === 'unusable' && lastKnownGood.unsigned !== undefined && isSame(lastKnownGood.unsigned, current.bytes);
}

/**
 * A node that would be left without any file for its kubelet keeps what it trusted before signatures were asked for, or before the key was taken
 * away: policy must never cost a node its kubelet. Nothing new is let in this way. Its content is not said, so that an assigned config of the same
 * content is not taken to be in use, which would clear the error.
 */
function lastResort(lastKnownGood: Candidate): Omit<BootPlan, 'error'> | undefined {
  if (lastKnownGood.at !== 'unusable' || !lastKnownGood.unsigned) return undefined;
  const { source, unsigned } = lastKnownGood;
  const why = 'the last known good config is not signed, and used because there is no other file for the kubelet';
  return { used: 'last-known-good', source, why, effective: { do: 'write', bytes: unsigned } };
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);

function reasonAgainst(assigned: Exclude<Candidate, { at: 'none' | 'usable' }>): { error: string; why: string } {
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
 * Without a local config that can be used, the file that is there is the best guess of how this node should be. Where there is none, nothing is
 * written for a kubelet of ours: all defaults would cut its node off. Only who hands over without us gets a file with all defaults.
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

export interface BootDeps {
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'localConfig' | 'effectiveConfig' | 'merge' | 'policy' | 'kubeletUnit' | 'kubeletExits'>;
  store: Store;
  disk: Disk;
  clock: Clock;
  log: Log;
  kubelet: KubeletFacts;
}

/** Synchronous in spirit: no network, ends with a usable effective file. Declared here, written in this folder. */
export type Boot = (deps: BootDeps) => Promise<BootOutcome>;

/** What boot chose, and why not something else. This is also what `dkc agent run --once` prints and `dkc drill` rehearses. */
export interface BootOutcome {
  used: 'assigned' | 'last-known-good' | 'local';
  /** The source in use; null for local. */
  source: MaybeSource;
  /** Its content; absent for local. */
  content?: ContentRef;
  assigned: MaybeSource;
  /** False where the record is missing or damaged: then `assigned` is null and means unknown. */
  assignedKnown: boolean;
  lastKnownGood: MaybeSource;
  /** A string of spec 7.2 or design 4; null when all is well. */
  error: string | null;
  /** What is wrong with the local config, for people; absent when nothing. */
  localProblem?: string;
  /** A signature is all that the assigned config lacks. */
  unsigned?: true;
  effective: {
    path: string;
    /** Of what is on disk now; empty when there is no file and none could be written. */
    sha256: string;
    /** Whether this boot wrote it. */
    changed: boolean;
    /** Whether a kubelet can start on it: it is there and decodes. */
    usable: boolean;
  };
  /** What boot wrote over was not what an agent had written there; absent otherwise. */
  drifted?: OverwrittenDrift;
}

/** `keptAs`: where the changed file is now; absent where it was gone, or could not be kept. */
export interface OverwrittenDrift {
  was: 'changed' | 'missing';
  keptAs?: string;
}
