import { isKnown, recorded, type AdminFacts } from '../facts.ts';
import { findRef } from '../refs.ts';
import { condemnationUnder, keyOf, sourceOf } from '../roles.ts';
import type { BootPlan, Candidate } from '../../boot/plan.ts';
import type { ContentRef } from '../../checkpoint/payload.ts';
import { RETRY_ANNOTATION } from '../../checkpoint/download.ts';
import { samePayload, sameSource, sourceText, type Source } from '../../checkpoint/source.ts';
import { contentRef, sameContent } from '../../store/content.ts';
import type { CheckpointEntry, CondemnedRecord, JournalLine } from '../../store/store.ts';

export interface RollbackAsked {
  /** REF that becomes last-known-good. */
  to?: string;
  /** Key of `to`, where the store does not tell. */
  key?: string;
  reason?: string;
  /** RFC 3339: goes into record and journal. */
  at: string;
}

export type RollbackStep =
  { do: 'trust'; source: Source } | { do: 'condemn'; record: CondemnedRecord } | { do: 'journal'; line: JournalLine };

/** What a rollback means to change; where it leads is boot's to say. */
export interface Intent {
  at: 'intended';
  /** In the order in which they are to be done. */
  steps: RollbackStep[];
  notes: string[];
  /** REF, and what it names, where there is one. */
  to?: { ref: string; source: Source };
  /** The content that is taken back. */
  content: ContentRef;
  /** The node as it is when the steps are done. */
  after: AdminFacts;
}

/** Where the next boot arrives, and what it makes of last-known-good: see `foresee`. */
export interface Landing extends Pick<BootPlan, 'used' | 'source' | 'effective'> {
  lastKnownGood: Candidate;
}

/** Found wrong: exit 1. */
export interface Refused {
  at: 'refused';
  why: string;
}

export type RollbackPlan =
  | Refused
  /** In this order: with the new trust in place first, a crash in between leaves a node that runs as before. */
  | { at: 'planned'; steps: RollbackStep[]; notes: string[] };

/** Condemns the assigned content by admin; with `to` a trusted config is named as well. */
export function intendRollback(facts: AdminFacts, asked: RollbackAsked): Intent | Refused {
  if (!isKnown(facts.assigned))
    return no('what is assigned is not known: its record is missing or damaged, and boot passes it over already');
  const assigned = recorded(facts.assigned);
  if (assigned === null) return no('nothing is assigned: this node runs its local config already');
  const entry = facts.entries.find((one) => samePayload(one.ref, assigned));
  const content = contentOf(assigned, entry, facts);
  if (!content)
    return no(`the checkpoint of ${sourceText(assigned)} is missing or damaged, so boot falls back already; see dkc checkpoints verify`);

  const trust = asked.to === undefined ? undefined : findTrusted(asked.to, asked.key, content, facts);
  if (trust && !trust.ok) return no(trust.why);
  const standing = facts.condemned.find((record) => sameContent(record, content));
  const steps: RollbackStep[] = [];
  const notes: string[] = [];
  if (trust && !sameSource(trust.source, recorded(facts.lastKnownGood))) steps.push({ do: 'trust', source: trust.source });
  const record = standing ?? condemnation(assigned, content, entry, asked);
  if (standing) notes.push(`${sourceText(assigned)} is condemned already, by ${standing.by} at ${standing.at}`);
  else steps.push({ do: 'condemn', record });
  if (steps.length > 0) steps.push({ do: 'journal', line: journalLine(assigned, trust?.source, asked) });

  const after: AdminFacts = {
    ...facts,
    condemned: standing ? facts.condemned : [...facts.condemned, record],
    lastKnownGood: trust ? { at: 'known', source: trust.source } : facts.lastKnownGood,
  };
  const to = trust && asked.to !== undefined ? { to: { ref: asked.to, source: trust.source } } : {};
  return { at: 'intended', steps, notes, content, after, ...to };
}

/** Nothing is done for a `to` that boot would pass over: the node would land where nobody sent it. */
export function planRollback({ steps, notes, to, content, after }: Intent, landing: Landing): RollbackPlan {
  const { used, source, effective, lastKnownGood } = landing;
  if (used === 'last-known-good') return { at: 'planned', steps, notes: [...notes, `this node goes to ${sourceText(source)}`] };
  const against = reasonAgainst(lastKnownGood, content, after);
  if (to) return no(`--to ${to.ref}: ${against}; dkc checkpoints show ${to.ref} prints it`);
  return { at: 'planned', steps, notes: [...notes, `${against}: this node ${arrival[effective.do]}; name another checkpoint with --to`] };
}

const arrival: Readonly<Record<BootPlan['effective']['do'], string>> = {
  write: 'goes to its local config',
  keep: 'has no local config that can be used, and stays on the effective file that is there',
  'write-minimal': "has no local config that can be used, and goes to a kubelet's defaults",
};

function reasonAgainst(candidate: Candidate, content: ContentRef, facts: AdminFacts): string {
  switch (candidate.at) {
    case 'none':
      return 'there is no last-known-good';
    case 'unknown':
      return 'what is last-known-good is not known';
    case 'condemned':
      return isOf(content, candidate.source, facts)
        ? 'last-known-good has the same content'
        : `last-known-good is condemned (${candidate.reason})`;
    case 'unusable':
      return `${sourceText(candidate.source)} cannot be used on this node: ${candidate.problem}`;
    case 'usable':
      return 'last-known-good is passed over';
  }
}

/** From the manifest, which survives damage to the files; else from the trial, which knows its own content. */
function contentOf(assigned: Source, entry: CheckpointEntry | undefined, facts: AdminFacts): ContentRef | undefined {
  if (entry?.manifest) return contentRef(entry.manifest.files, assigned.kubeletConfigKey);
  const { trial } = facts;
  if (!trial || !sameSource(trial.source, assigned)) return undefined;
  return { kubeletConfigKey: trial.kubeletConfigKey, contentSha256: trial.contentSha256 };
}

function condemnation(assigned: Source, content: ContentRef, entry: CheckpointEntry | undefined, asked: RollbackAsked): CondemnedRecord {
  const { uid, resourceVersion, namespace, name } = assigned;
  return {
    uid,
    resourceVersion,
    kubeletConfigKey: content.kubeletConfigKey,
    contentSha256: content.contentSha256,
    reason: asked.reason ?? 'rolled back by admin',
    evidence: [],
    by: 'admin',
    at: asked.at,
    namespace,
    name,
    retry: entry?.manifest?.annotations[RETRY_ANNOTATION] ?? '',
  };
}

function journalLine(assigned: Source, to: Source | undefined, asked: RollbackAsked): JournalLine {
  const parts = [asked.reason ?? 'rolled back by admin', ...(to ? [`last-known-good is now ${sourceText(to)}`] : [])];
  return { at: asked.at, event: 'rolled-back', source: assigned, detail: parts.join('; ') };
}

function isOf(content: ContentRef, source: Source, facts: AdminFacts): boolean {
  const manifest = facts.entries.find((one) => samePayload(one.ref, source))?.manifest;
  return manifest !== undefined && sameContent(contentRef(manifest.files, source.kubeletConfigKey), content);
}

type Trusted = { ok: true; source: Source } | { ok: false; why: string };

/** The config to trust from now on must be whole, not condemned, and not the very one that is taken back. */
function findTrusted(ref: string, askedKey: string | undefined, condemning: ContentRef, facts: AdminFacts): Trusted {
  const against = (why: string): Trusted => ({ ok: false, why: `--to ${ref}: ${why}` });
  const found = findRef(ref, facts);
  if (found.at === 'local') return against('it stands for the local config, which last-known-good cannot name');
  if (found.at !== 'found') return against(found.why);
  const entry = facts.entries.find((one) => samePayload(one.ref, found.ref));
  if (!entry) return against('its checkpoint is not in the store');
  if (entry.state === 'damaged' || !entry.manifest)
    return against(`its checkpoint is damaged${entry.problem === undefined ? '' : `: ${entry.problem}`}`);
  const key = askedKey ?? found.key ?? found.source?.kubeletConfigKey ?? keyOf(entry, facts);
  if (key === '') return against('the store does not tell which of its keys is the kubelet configuration; name it with --key');
  if (!entry.manifest.files.some((file) => file.key === key)) return against(`its checkpoint has no key ${JSON.stringify(key)}`);
  if (sameContent(contentRef(entry.manifest.files, key), condemning)) return against('it is the content that is being rolled back');
  const verdict = condemnationUnder(entry, key, facts.condemned);
  if (verdict) return against(`it is condemned (${verdict.reason}); clear that first with dkc retry`);
  const source = { ...sourceOf(entry, facts), kubeletConfigKey: key };
  if (source.namespace === '' || source.name === '') return against('the store does not tell which ConfigMap it came from');
  return { ok: true, source };
}

const no = (why: string): Refused => ({ at: 'refused', why });
