import { type AdminFacts, isKnown, recorded } from '../facts.ts';
import { findRef } from '../refs.ts';
import { condemnationUnder, isRefused, keyOf, sourceOf, trustedBefore, wasTrusted } from '../roles.ts';
import type { BootPlan, Candidate } from '../../boot/plan.ts';
import { type ContentRef, samePayload, sameSource, type Source, sourceText } from '../../checkpoint/source.ts';
import { contentRef, RETRY_ANNOTATION, sameContent } from '../../checkpoint/payload.ts';
import type { CheckpointEntry, CondemnedRecord, JournalLine } from '../../store/store.ts';

export interface RollbackOptions {
  /** REF to go to. */
  to?: string;
  /** Key of `to`, where the store does not record it. */
  key?: string;
  /** Use `to` although it was never trusted on this node, or is condemned or refused: it is on trial then. */
  force?: boolean;
  reason?: string;
  /** RFC 3339: goes into record and journal. */
  at: string;
}

export type RollbackStep =
  | { do: 'set-last-known-good'; source: Source }
  /** Boot uses this config and begins its trial. The config that the API server assigns is not used, since it is condemned. */
  | { do: 'assign'; source: Source }
  | { do: 'condemn'; record: CondemnedRecord }
  | { do: 'clear-condemned'; content: ContentRef }
  | { do: 'journal'; line: JournalLine };

/** One route to roll back; boot decides where it leads. */
export interface RollbackRoute {
  /** In the order of execution. */
  steps: RollbackStep[];
  /** The config that boot must use for this route to be taken; null: any fallback. */
  goal: { used: 'assigned' | 'last-known-good'; source: Source } | null;
  /** The facts after the steps. */
  after: AdminFacts;
}

/** What a rollback is to change. */
export interface Intent {
  at: 'intended';
  /** The first route that reaches its goal is taken. Without `--to` the last route has no goal, so one is always taken. */
  routes: RollbackRoute[];
  notes: string[];
  /** REF as given. */
  to?: string;
  /** The content to condemn. */
  content: ContentRef;
}

/** Which config the next boot uses, and what it finds for both records: see `predict`. */
export interface Landing extends Pick<BootPlan, 'used' | 'source' | 'effective'> {
  assigned: Candidate;
  lastKnownGood: Candidate;
}

/** The rollback is not possible: exit 1. */
export interface Refused {
  at: 'refused';
  why: string;
}

export type RollbackPlan =
  | Refused
  /** `steps` set last-known-good first, so that a crash in between leaves a node that runs as before. */
  | { at: 'planned'; steps: RollbackStep[]; notes: string[]; arrives: Pick<Landing, 'used' | 'source'> };

/**
 * Condemns the assigned content by admin. Without `to` the node falls back to the config that it trusted last before that, else to its local config.
 * A trusted `to` becomes last-known-good; any other `to` needs `force`, is assigned on this node only, and is on trial like any assignment.
 */
export function intendRollback(facts: AdminFacts, options: RollbackOptions): Intent | Refused {
  if (!isKnown(facts.assigned))
    return no('the assignment is unknown: its record is missing or damaged, so the node does not boot with it anyway');
  const assigned = recorded(facts.assigned);
  if (assigned === null) return no('nothing is assigned: this node already runs its local config');
  const entry = facts.entries.find((one) => samePayload(one.ref, assigned));
  const content = contentOf(assigned, entry, facts);
  if (!content)
    return no(
      `the checkpoint of ${sourceText(assigned)} is missing or damaged, so the node already falls back when it boots; see dkc checkpoints verify`,
    );

  const existing = facts.condemned.find((record) => sameContent(record, content));
  const record = existing ?? condemnation(assigned, content, entry, options);
  const condemned = existing ? facts.condemned : [...facts.condemned, record];
  const condemn: RollbackStep[] = existing ? [] : [{ do: 'condemn', record }];
  const notes = existing ? [`${sourceText(assigned)} is already condemned (by ${existing.by}, at ${existing.at})`] : [];
  const base: Base = { facts: { ...facts, condemned }, assigned, condemn, options };
  if (options.to !== undefined) {
    const target = findTarget(options.to, options, content, facts);
    if (!target.ok) return no(target.why);
    const [fallback] = trustedBefore(content, base.facts);
    const route = target.onTrial ? routeToTrial(target.source, target.content, fallback, base) : routeToTrusted(target.source, base);
    return { at: 'intended', routes: [route], notes, content, to: options.to };
  }
  const routes = trustedBefore(content, base.facts).map((source) => routeToTrusted(source, base));
  return { at: 'intended', routes: [...routes, routeToFallback(base)], notes, content };
}

interface Base {
  /** The facts including the new condemnation. */
  facts: AdminFacts;
  assigned: Source;
  condemn: RollbackStep[];
  options: RollbackOptions;
}

function routeToTrusted(source: Source, { facts, assigned, condemn, options }: Base): RollbackRoute {
  const isNew = !sameSource(source, recorded(facts.lastKnownGood));
  const changes: RollbackStep[] = [...(isNew ? [{ do: 'set-last-known-good', source } as const] : []), ...condemn];
  return {
    steps: withJournal(changes, rolledBack(assigned, options, undefined, isNew ? source : undefined)),
    goal: { used: 'last-known-good', source },
    after: { ...facts, lastKnownGood: { at: 'known', source } },
  };
}

/**
 * Condemns before it assigns: a crash in between leaves the node on last-known-good. If last-known-good is the config that is rolled back, the trial
 * would have no fallback: the config that was trusted before becomes last-known-good.
 */
function routeToTrial(
  source: Source,
  content: ContentRef,
  fallback: Source | undefined,
  { facts, assigned, condemn, options }: Base,
): RollbackRoute {
  const isCondemned = facts.condemned.some((record) => sameContent(record, content));
  const trusts = fallback && !sameSource(fallback, recorded(facts.lastKnownGood)) ? fallback : undefined;
  const changes: RollbackStep[] = [
    ...(trusts ? [{ do: 'set-last-known-good', source: trusts } as const] : []),
    ...condemn,
    ...(isCondemned ? [{ do: 'clear-condemned', content } as const] : []),
    { do: 'assign', source },
  ];
  const line = rolledBack(assigned, options, `${sourceText(source)} is tried instead`, trusts);
  return {
    steps: [...withJournal(changes, line), ...asAssigned(source, options)],
    goal: { used: 'assigned', source },
    after: {
      ...facts,
      ...(trusts ? { lastKnownGood: { at: 'known', source: trusts } as const } : {}),
      assigned: { at: 'known', source },
      condemned: facts.condemned.filter((record) => !sameContent(record, content)),
    },
  };
}

function routeToFallback({ facts, assigned, condemn, options }: Base): RollbackRoute {
  return { steps: withJournal(condemn, rolledBack(assigned, options)), goal: null, after: facts };
}

const withJournal = (changes: RollbackStep[], line: JournalLine): RollbackStep[] =>
  changes.length > 0 ? [...changes, { do: 'journal', line }] : [];

const asAssigned = (source: Source, { at }: RollbackOptions): RollbackStep[] => [
  { do: 'journal', line: { at, event: 'assigned', source, detail: 'dkc rollback --to' } },
];

/** Whether `landing` is the goal of the route. */
export function arrives({ goal }: RollbackRoute, { used, source }: Landing): boolean {
  return goal === null || (goal.used === used && sameSource(goal.source, source));
}

/** Plans the route. A `to` that boot would not use is refused: the node would end up on a config that the admin did not choose. */
export function planRollback({ notes, to, content }: Intent, route: RollbackRoute, landing: Landing): RollbackPlan {
  const { steps, goal, after } = route;
  const { used, source, effective } = landing;
  if (to !== undefined && !arrives(route, landing)) {
    const candidate = goal?.used === 'assigned' ? landing.assigned : landing.lastKnownGood;
    return no(`--to ${to}: ${whyNotUsed(candidate, content, after)}; to print it: dkc checkpoints show ${to}`);
  }
  const planned = { at: 'planned', steps, arrives: { used, source } } as const;
  if (used !== 'local') {
    const trial = used === 'assigned' ? ', on trial' : '';
    return { ...planned, notes: [...notes, `this node goes to ${sourceText(source)}${trial}`] };
  }
  const against = whyNotUsed(landing.lastKnownGood, content, after);
  return { ...planned, notes: [...notes, `${against}, so this node ${arrival[effective.do]} (use --to to pick another checkpoint)`] };
}

const arrival: Readonly<Record<BootPlan['effective']['do'], string>> = {
  write: 'reverts to its local config',
  keep: 'keeps its current effective file, because it has no usable local config',
  'write-minimal': "goes to the kubelet's defaults, because it has no usable local config",
};

function whyNotUsed(candidate: Candidate, content: ContentRef, facts: AdminFacts): string {
  switch (candidate.at) {
    case 'none':
      return 'there is no last-known-good';
    case 'unknown':
      return 'last-known-good is unknown';
    case 'condemned':
      return isOf(content, candidate.source, facts)
        ? 'last-known-good has the same content'
        : `${sourceText(candidate.source)} is condemned (${candidate.reason})`;
    case 'unusable':
      return `${sourceText(candidate.source)} cannot be used on this node: ${candidate.problem}`;
    case 'usable':
      return 'boot does not use last-known-good';
  }
}

/** From the manifest, which survives damage to the files; else from the trial record of this source. */
function contentOf(assigned: Source, entry: CheckpointEntry | undefined, facts: AdminFacts): ContentRef | undefined {
  if (entry?.manifest) return contentRef(entry.manifest.files, assigned.kubeletConfigKey);
  const { trial } = facts;
  if (!trial || !sameSource(trial.source, assigned)) return undefined;
  return { kubeletConfigKey: trial.kubeletConfigKey, contentSha256: trial.contentSha256 };
}

function condemnation(
  assigned: Source,
  content: ContentRef,
  entry: CheckpointEntry | undefined,
  options: RollbackOptions,
): CondemnedRecord {
  const { uid, resourceVersion, namespace, name } = assigned;
  return {
    uid,
    resourceVersion,
    kubeletConfigKey: content.kubeletConfigKey,
    contentSha256: content.contentSha256,
    reason: options.reason ?? 'rolled back by admin',
    evidence: [],
    by: 'admin',
    at: options.at,
    namespace,
    name,
    retry: entry?.manifest?.annotations[RETRY_ANNOTATION] ?? '',
  };
}

function rolledBack(assigned: Source, options: RollbackOptions, then?: string, trusts?: Source): JournalLine {
  const now = trusts ? [`last-known-good is now ${sourceText(trusts)}`] : [];
  const parts = [options.reason ?? 'rolled back by admin', ...(then === undefined ? [] : [then]), ...now];
  return { at: options.at, event: 'rolled-back', source: assigned, detail: parts.join('; ') };
}

function isOf(content: ContentRef, source: Source, facts: AdminFacts): boolean {
  const manifest = facts.entries.find((one) => samePayload(one.ref, source))?.manifest;
  return manifest !== undefined && sameContent(contentRef(manifest.files, source.kubeletConfigKey), content);
}

type Target = { ok: true; source: Source; content: ContentRef; onTrial: boolean } | { ok: false; why: string };

/** The config to roll back to must be intact, and not the content that is rolled back. */
function findTarget(ref: string, { key: askedKey, force = false }: RollbackOptions, condemning: ContentRef, facts: AdminFacts): Target {
  const rejected = (why: string): Target => ({ ok: false, why: `--to ${ref}: ${why}` });
  const found = findRef(ref, facts);
  if (found.at === 'local') return rejected(`the ${found.role} config is the local config; it cannot become last-known-good`);
  if (found.at !== 'found') return rejected(found.why);
  const entry = facts.entries.find((one) => samePayload(one.ref, found.ref));
  if (!entry) return rejected('its checkpoint is not in the store');
  if (entry.state === 'damaged' || !entry.manifest)
    return rejected(`its checkpoint is damaged${entry.problem === undefined ? '' : `: ${entry.problem}`}`);
  const key = askedKey ?? found.key ?? found.source?.kubeletConfigKey ?? keyOf(entry, facts);
  if (key === '') return rejected('the store does not record which of its keys holds the kubelet configuration; set it with --key');
  if (!entry.manifest.files.some((file) => file.key === key)) return rejected(`its checkpoint has no key ${JSON.stringify(key)}`);
  const content = contentRef(entry.manifest.files, key);
  if (sameContent(content, condemning)) return rejected('it is the content that is being rolled back');
  const source = { ...sourceOf(entry, facts), kubeletConfigKey: key };
  if (source.namespace === '' || source.name === '') return rejected('the store does not record which ConfigMap it came from');
  const doubt = whyUntrusted(content, source, entry, facts);
  if (doubt !== undefined && !force) return rejected(`${sourceText(source)} ${doubt}; --force uses it anyway, on trial like any other`);
  return { ok: true, source, content, onTrial: doubt !== undefined };
}

/** Why a config does not count as trusted on this node; undefined where it does. */
function whyUntrusted(content: ContentRef, source: Source, entry: CheckpointEntry, facts: AdminFacts): string | undefined {
  const verdict = condemnationUnder(entry, source.kubeletConfigKey, facts.condemned);
  if (verdict) return `is condemned (by ${verdict.by}: ${verdict.reason})`;
  if (wasTrusted(content, facts)) return undefined;
  return isRefused(entry, facts) ? 'was refused by this node' : 'was never trusted on this node';
}

const no = (why: string): Refused => ({ at: 'refused', why });
