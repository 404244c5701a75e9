import { fallBack } from '../active.ts';
import { isKnown, recorded, type AdminFacts } from '../facts.ts';
import { findRef } from '../refs.ts';
import { condemnationUnder, keyOf, sourceOf } from '../roles.ts';
import type { ContentRef } from '../../checkpoint/payload.ts';
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

export type RollbackPlan =
  /** Found wrong: exit 1. */
  | { at: 'refused'; why: string }
  /** In this order: with the new trust in place first, a crash in between leaves a node that runs as before. */
  | { at: 'planned'; steps: RollbackStep[]; notes: string[] };

const RETRY_ANNOTATION = 'dkc.dev/retry';

/** Condemns the assigned content by admin; with `to` a trusted config is named as well. */
export function planRollback(facts: AdminFacts, asked: RollbackAsked): RollbackPlan {
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

  // Where the node arrives, seen as if the steps were done.
  const then: AdminFacts = {
    ...facts,
    condemned: [...facts.condemned, record],
    lastKnownGood: trust ? { at: 'known', source: trust.source } : facts.lastKnownGood,
  };
  const landing = fallBack(then);
  const trusted = recorded(then.lastKnownGood);
  if (landing.used === 'local') {
    const why =
      trusted === null
        ? 'there is no last-known-good'
        : sameTrusted(trusted, content, facts)
          ? 'last-known-good has the same content'
          : 'last-known-good cannot be used';
    notes.push(`${why}: this node goes to its local config; name another checkpoint with --to`);
  } else {
    notes.push(`this node goes to ${sourceText(landing.source)}`);
  }
  return { at: 'planned', steps, notes };
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

function sameTrusted(trusted: Source, content: ContentRef, facts: AdminFacts): boolean {
  const entry = facts.entries.find((one) => samePayload(one.ref, trusted));
  return entry?.manifest !== undefined && sameContent(contentRef(entry.manifest.files, trusted.kubeletConfigKey), content);
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
  const key = askedKey ?? found.source?.kubeletConfigKey ?? keyOf(entry, facts);
  if (key === '') return against('the store does not tell which of its keys is the kubelet configuration; name it with --key');
  if (!entry.manifest.files.some((file) => file.key === key)) return against(`its checkpoint has no key ${JSON.stringify(key)}`);
  if (sameContent(contentRef(entry.manifest.files, key), condemning)) return against('it is the content that is being rolled back');
  const verdict = condemnationUnder(entry, key, facts.condemned);
  if (verdict) return against(`it is condemned (${verdict.reason}); clear that first with dkc retry`);
  const source = { ...sourceOf(entry, facts), kubeletConfigKey: key };
  if (source.namespace === '' || source.name === '') return against('the store does not tell which ConfigMap it came from');
  return { ok: true, source };
}

const no = (why: string): RollbackPlan => ({ at: 'refused', why });
