import { type ActiveConfig, statusErrors } from '../status/node-config-state.ts';
import { sameContent, sha256 } from '../checkpoint/payload.ts';
import type { CondemnedRecord } from '../store/store.ts';
import { type ContentRef, type MaybeSource, sameSource, sourceText } from '../checkpoint/source.ts';
import type { AgentOptions } from '../options.ts';
import { effectiveOfLocal, type LocalConfig } from '../evaluate/local.ts';
import type { Millis } from '../../base/clock.ts';

export interface RecordFacts {
  condemned: readonly CondemnedRecord[];
  active: MaybeSource;
  activeContent?: ContentRef;
  assigned: MaybeSource;
  assignedContent?: ContentRef;
  /** The assigned record to which `bootError` refers. If sync has replaced it since, sync handles that. */
  bootAssigned: MaybeSource;
  bootError: string | null;
  /** The active config is not the assigned one. */
  isFallback: boolean;
  /** The last-known-good record now; `bootTrusted`: as boot read it. */
  trusted: MaybeSource;
  trustedContent?: ContentRef;
  bootTrusted: MaybeSource;
  /** Another program wrote the assigned record, as `dkc rollback --to` does. */
  assignedByOther: boolean;
}

/**
 * Whether a change of the records by another program (an admin's `dkc rollback` or `dkc retry`) requires that the agent restarts, so that boot
 * chooses again. Needs no API server.
 * @returns why the agent must restart, or undefined
 */
export function planRecordChange(facts: RecordFacts): string | undefined {
  const { condemned, active, activeContent, assigned, assignedContent, bootAssigned, bootError } = facts;
  const verdictOn = (content: ContentRef | undefined): CondemnedRecord | undefined =>
    content && condemned.find((record) => sameContent(record, content));
  const verdict = active === null ? undefined : verdictOn(activeContent);
  if (verdict) return `the active config was condemned: ${verdict.reason}`;
  const wentBack = bootError === statusErrors.rolledBack || bootError === statusErrors.failedTrial;
  if (wentBack && assigned !== null && sameSource(assigned, bootAssigned) && assignedContent && !verdictOn(assignedContent))
    return 'the assigned config is no longer condemned';
  if (facts.assignedByOther && !verdictOn(assignedContent) && !isSame(assignedContent, activeContent))
    return 'another config is assigned on this node now';
  if (facts.isFallback && !sameSource(facts.trusted, facts.bootTrusted) && !isSame(facts.trustedContent, activeContent))
    return 'another config is last known good now';
  return undefined;
}

const isSame = (a: ContentRef | undefined, b: ContentRef | undefined): boolean => (a && b ? sameContent(a, b) : a === b);

export interface SignatureFacts {
  /** A missing signature was the only fault that boot found in the assigned config. */
  bootUnsigned: boolean;
  bootAssigned: MaybeSource;
  assigned: MaybeSource;
  used: 'assigned' | 'last-known-good' | 'local';
  active: MaybeSource;
  /** Whether a key of the current policy signed the config; undefined where no signature is required, or the checkpoint cannot be read. */
  isAssignedSigned: boolean | undefined;
  isActiveSigned: boolean | undefined;
}

/** What the current signature keys require: that the agent restarts, or a notice for the admin. */
export function planSignatures(facts: SignatureFacts): { leave?: string; notice: string | null } {
  const { bootUnsigned, bootAssigned, assigned, active, used } = facts;
  if (bootUnsigned && sameSource(assigned, bootAssigned) && facts.isAssignedSigned !== false)
    return { leave: 'the field policy accepts the assigned config now', notice: null };
  if (active === null || facts.isActiveSigned !== false) return { notice: null };
  const then =
    used === 'assigned'
      ? 'at its next start the agent replaces it with the last known good or the local config'
      : 'it is used because there is no other file for the kubelet';
  const remedy = 'sign the ConfigMap with dkc sign, or add the public key of its signer to the policy';
  return { notice: `${sourceText(active)} runs and is signed by none of the signatureKeys in the field policy: ${then}; ${remedy}` };
}

/** How long an agent that could not write the effective file waits before it restarts to try again, in ms. */
const UNWRITTEN_MS = 30_000;

/** What is remembered of the local config from one check to the next. */
export interface LocalSeen {
  /** Hash of the file; undefined where it was missing or could not be read. */
  hash: string | undefined;
  /** Hash of the last usable local config. A file that is created, or created again with other content, counts as a change. */
  usable: string | undefined;
}

interface LocalFacts {
  hash: string | undefined;
  local: LocalConfig;
  active: Pick<ActiveConfig, 'used' | 'effectiveSha256'>;
  bootError: string | null;
  merge: AgentOptions['merge'];
}

/** `isChanged`: whether to report what is wrong with the local config, or that it is usable again. `afterMs`: wait this long before leaving. */
type LocalPlan = { seen: LocalSeen; isChanged: boolean; next: 'nothing' | 'evaluate' | { leave: string; afterMs: Millis } };

/**
 * What a check of the local config requires: the agent restarts where the effective file depends on it; otherwise rejected configs are evaluated
 * again. A missing or broken local config changes nothing: the effective file of the kubelet is better.
 * @param before - undefined at the first check, which sees the file that boot read: no change
 */
export function planLocalChange(before: LocalSeen | undefined, { hash, local, active, bootError, merge }: LocalFacts): LocalPlan {
  const isChanged = hash === undefined ? before !== undefined : hash !== before?.hash;
  if (hash === undefined || !isChanged || local.at !== 'present')
    return { seen: { hash, usable: before?.usable }, isChanged, next: 'nothing' };
  const plan = { seen: { hash, usable: hash }, isChanged };
  const { used, effectiveSha256 } = active;
  if (used === 'local' && sha256(effectiveOfLocal(local)) !== effectiveSha256) {
    // Most likely the disk is not writable: the next start would find the same and exit at once.
    return before === undefined && bootError === statusErrors.internal
      ? { ...plan, next: { leave: 'the effective file does not match the local config, writing it again', afterMs: UNWRITTEN_MS } }
      : { ...plan, next: { leave: 'the local config changed', afterMs: 0 } };
  }
  if (used !== 'local' && merge === 'overlay' && before !== undefined && hash !== before.usable)
    return { ...plan, next: { leave: 'the local config under the overlay changed', afterMs: 0 } };
  return { ...plan, next: 'evaluate' };
}
