import { RETRY_ANNOTATION, sameContent } from '../checkpoint/payload.ts';
import {
  type ContentRef,
  type MaybeSource,
  type Payload,
  type PayloadRef,
  samePayload,
  sameSource,
  type Source,
  type SpecSource,
} from '../checkpoint/source.ts';
import { splitFindings } from '../config/config.ts';
import type { Finding } from '../config/contract.ts';
import type { Stage } from '../evaluate/evaluate.ts';
import { statusErrors } from '../status/node-config-state.ts';
import type { RefusedRecord } from '../store/store.ts';
import type { CondemnedRecord } from '../store/store.ts';

/** What the API says this node should use. */
export type Wanted =
  | { at: 'local' }
  /** No object says anything: what the node has stays in force. */
  | { at: 'absent' }
  | { at: 'source'; spec: SpecSource }
  /** configSource is there, but names nothing this agent knows. */
  | { at: 'no-source' }
  /** It breaks a rule of spec 2.2 that this API server did not check, or the Node does not exist. */
  | { at: 'invalid'; problem: string }
  /** It names a namespace that this agent may not read. */
  | { at: 'forbidden'; problem: string };

/** The ConfigMap of the wanted source. */
export type Fetched =
  | {
      at: 'found';
      payload: Payload;
      content: ContentRef;
      saved: boolean;
      /** A whole checkpoint has the same uid and resourceVersion, and another content: the API server was restored. */
      clashes?: true;
    }
  | { at: 'failed'; problem: string }
  | { at: 'incomplete'; problem: string }
  /** It holds more than any checkpoint may. */
  | { at: 'beyond'; uid: string; resourceVersion: string; finding: Finding };

/** Preflight's answer; null where preflight is off or has nothing to evaluate. */
export type Verdict =
  | { ok: true; /** Where the node asks for signatures. */ signedBy?: string }
  | { ok: false; stage: Stage; findings: readonly Finding[] }
  | null;

export interface SyncFacts {
  wanted: Wanted;
  /** Absent unless a source is wanted. */
  fetched?: Fetched;
  /** undefined: the record is missing, so nobody knows. */
  assigned: MaybeSource | undefined;
  assignedContent?: ContentRef;
  /** undefined: as above. */
  lastKnownGood: MaybeSource | undefined;
  lastKnownGoodContent?: ContentRef;
  active: MaybeSource;
  activeContent?: ContentRef;
  /** The record that boot found and tried. */
  bootAssigned: MaybeSource;
  /** The error this boot started with; null when it used the assigned. */
  bootError: string | null;
  /** Boot left the kubelet without a file that it could start on. */
  lacksFile: boolean;
  condemned: readonly CondemnedRecord[];
  verdict: Verdict;
  /** The wanted checkpoint reads damaged although it was saved again before; `due` says whether to try once more. */
  spoiled?: { due: boolean };
  /** The refusal that is on disk. */
  refused?: RefusedRecord;
}

export type SyncStep =
  /** `again`: boot found the checkpoint of the assigned source damaged, so that the journal counts how often. */
  | { do: 'save'; payload: Payload; source: Source; again: boolean }
  | { do: 'clear-condemned'; content: ContentRef; source: Source }
  | { do: 'set-last-known-good'; to: MaybeSource }
  | { do: 'assign'; to: MaybeSource; why: string }
  /** The kubelet already reads this content: report it, nothing restarts. */
  | { do: 'adopt'; source: MaybeSource; content?: ContentRef }
  /** `content` is null where there was too much of it to look at. */
  | { do: 'refuse'; source: Source; content: ContentRef | null; error: string; findings: readonly Finding[] }
  /** What is on disk as refused is no longer what this node is to use, or it is accepted. */
  | { do: 'clear-refusal' }
  /** `final`: nothing on this node can change it, so there is no use in looking again before the API shows something else. */
  | { do: 'report'; error: string | null; detail: string; final?: true }
  /** `event` as upstream sends it before it exits; `quiet`: not again for one whose checkpoint is damaged time and again. */
  | { do: 'exit'; to: MaybeSource; quiet?: true };

/**
 * What one look at Node and ConfigMap leads to. Saved comes before assigned, so that `assigned` never names a missing checkpoint;
 * exit comes last.
 */
export function planSync(facts: SyncFacts): SyncStep[] {
  const steps = planWanted(facts);
  if (!facts.refused || !isOver(facts.refused, steps, facts)) return steps;
  const exit = steps.filter((step) => step.do === 'exit');
  return [...steps.slice(0, steps.length - exit.length), { do: 'clear-refusal' }, ...exit];
}

/** A refused ConfigMap that cannot be read just now is refused all the same. */
function isOver({ source }: RefusedRecord, steps: readonly SyncStep[], { wanted, fetched }: SyncFacts): boolean {
  if (steps.some((step) => step.do === 'refuse')) return false;
  const isSame =
    wanted.at === 'source' &&
    wanted.spec.namespace === source.namespace &&
    wanted.spec.name === source.name &&
    wanted.spec.kubeletConfigKey === source.kubeletConfigKey;
  return !isSame || fetched?.at === 'found';
}

function planWanted(facts: SyncFacts): SyncStep[] {
  const { wanted } = facts;
  switch (wanted.at) {
    case 'local':
      return planReset(facts);
    case 'absent':
      return planKept(facts);
    case 'no-source':
      return [report(statusErrors.noSource, 'configSource names no ConfigMap')];
    case 'invalid':
      return [report(statusErrors.syncInternal, wanted.problem)];
    case 'forbidden':
      return [report(statusErrors.download, wanted.problem)];
    case 'source':
      return planSource(wanted.spec, facts);
  }
}

/** Clearing either record counts (design Q3); only what changes the kubelet's file restarts anything. */
function planReset(facts: SyncFacts): SyncStep[] {
  const { assigned, lastKnownGood, active } = facts;
  const steps: SyncStep[] = [];
  if (lastKnownGood !== null) steps.push({ do: 'set-last-known-good', to: null });
  if (assigned !== null) steps.push({ do: 'assign', to: null, why: 'the assignment was cleared' });
  if (active !== null || (assigned !== null && assigned !== undefined)) return [...steps, ...leaveFor(null)];
  return [...steps, { do: 'adopt', source: null }, stillWrong({ ...facts, lastKnownGood: null })];
}

/** An object that is not there assigns nothing and takes nothing away. */
function planKept(facts: SyncFacts): SyncStep[] {
  const { assigned, active, bootError } = facts;
  if (assigned === null && active === null) return [{ do: 'adopt', source: null }, stillWrong(facts)];
  if (assigned && sameSource(assigned, active) && bootError === statusErrors.internal) return [stillWrong(facts)];
  return [report(bootError, 'no object assigns a configuration, so the node keeps the one it has')];
}

function planSource(spec: SpecSource, facts: SyncFacts): SyncStep[] {
  const { fetched } = facts;
  if (!fetched) return [];
  if (fetched.at === 'failed') return [report(statusErrors.download, fetched.problem)];
  if (fetched.at === 'incomplete') return [report(statusErrors.syncInternal, fetched.problem)];
  if (fetched.at === 'beyond') {
    const { uid, resourceVersion, finding } = fetched;
    return refuse({ ...spec, uid, resourceVersion }, null, { stage: 'download', findings: [finding] });
  }
  const { payload, content } = fetched;
  const source: Source = { ...spec, uid: payload.uid, resourceVersion: payload.resourceVersion };
  const isAssigned = facts.assigned !== undefined && sameSource(source, facts.assigned);
  // One that reads well now, after a boot that could not read it, is tried again in its turn: the disk may have recovered.
  const isUnused = isAssigned && facts.bootError === statusErrors.load && !sameSource(facts.active, source);
  if (fetched.clashes && !isUnused && isNamed(payload, facts)) return [report(statusErrors.syncInternal, clashText(source))];
  const saved = fetched.saved && !(isUnused && facts.spoiled?.due === true);
  if (!saved && facts.spoiled?.due === false)
    return [report(facts.bootError ?? statusErrors.syncInternal, 'its checkpoint is damaged after every save, retrying with longer waits')];
  const steps: SyncStep[] = saved ? [] : [{ do: 'save', payload, source, again: isAssigned }];

  const condemned = facts.condemned.find((record) => sameContent(record, content));
  if (condemned) {
    // An annotation that is taken away again asks for nothing.
    const retry = payload.annotations[RETRY_ANNOTATION] ?? '';
    if (retry === '' || retry === condemned.retry) return [...steps, ...standBy(facts, condemned)];
    steps.push({ do: 'clear-condemned', content, source });
  }
  if (isAssigned) return [...steps, ...planSettled(source, content, saved, condemned, facts)];
  return [...steps, ...planChange(source, content, facts)];
}

/** What runs, is assigned or is trusted is known by this name. Another content under it would take over the trust that it never earned. */
function isNamed(payload: PayloadRef, { assigned, active, lastKnownGood }: SyncFacts): boolean {
  return [assigned, active, lastKnownGood].some((source) => source && samePayload(source, payload));
}

function clashText({ namespace, name, uid, resourceVersion }: Source): string {
  const what = `ConfigMap ${namespace}/${name} has another content than the checkpoint of the same uid and resourceVersion (${uid}/${resourceVersion})`;
  const remedy = `kubectl -n ${namespace} annotate configmap ${name} --overwrite restored="$(date +%s)"`;
  return `${what}, as after a restore of etcd; the node keeps what it has until the ConfigMap has a new resourceVersion: ${remedy}`;
}

/** Refused as in preflight, but nothing new happened: no event, and the error stays the one the node went back with. */
function standBy({ bootError }: SyncFacts, { by }: CondemnedRecord): SyncStep[] {
  const error = by === 'admin' ? statusErrors.rolledBack : statusErrors.failedTrial;
  return [
    report(
      bootError === statusErrors.failedTrial || bootError === statusErrors.rolledBack ? bootError : error,
      'its content is condemned on this node',
    ),
  ];
}

/** The record already names it. A fall back is tried again only when its cause is gone: else agent and boot would chase each other. */
function planSettled(source: Source, content: ContentRef, saved: boolean, absolved: unknown, facts: SyncFacts): SyncStep[] {
  const { activeContent, bootAssigned, bootError } = facts;
  if (activeContent && sameContent(activeContent, content))
    return [...trustIfKnown(source, content, facts), { do: 'adopt', source, content }, stillWrong(facts)];
  const wasCondemned = bootError === statusErrors.failedTrial || bootError === statusErrors.rolledBack;
  // Boot has never tried what was written since: a failure came between record and exit.
  const untried = !sameSource(source, bootAssigned);
  if (untried || !saved || absolved !== undefined || wasCondemned) return leaveFor(source, !saved && !untried);
  return [report(bootError, 'the assigned config cannot be used')];
}

function planChange(source: Source, content: ContentRef, facts: SyncFacts): SyncStep[] {
  const { verdict, activeContent } = facts;
  const signed = verdict?.ok === true && verdict.signedBy !== undefined ? `, signed by ${verdict.signedBy}` : '';
  if (verdict && !verdict.ok) {
    return refuse(source, content, verdict);
  }
  if (activeContent && sameContent(activeContent, content)) {
    return [
      { do: 'assign', to: source, why: `same content, nothing restarts${signed}` },
      ...trustIfKnown(source, content, facts),
      { do: 'adopt', source, content },
      stillWrong(facts),
    ];
  }
  return [{ do: 'assign', to: source, why: `new content${signed}` }, ...leaveFor(source)];
}

type Refusal = Pick<Extract<Verdict, { ok: false }>, 'stage' | 'findings'>;

function refuse(source: Source, content: ContentRef | null, { stage, findings }: Refusal): SyncStep[] {
  const error = statusErrors[stage];
  const step = { do: 'refuse', source, content, error, findings } as const;
  const said = report(error, refusalDetail(step));
  return [step, stage === 'download' ? { ...said, final: true } : said];
}

/**
 * All is as wanted, but what boot found may last (design Q5): a damaged last-known-good until a trial has written it again, a kubelet without a file
 * until there is a local config.
 */
function stillWrong({ bootError, lastKnownGood, lacksFile }: SyncFacts): SyncStep {
  const lasts = bootError === statusErrors.internal && (lastKnownGood === undefined || lacksFile);
  return report(lasts ? bootError : null, lasts ? 'last-known-good was damaged, or there is no local config' : '');
}

/** The error spoke of what was wanted before: it goes before the exit, or the Node would show it beside the new assignment. */
function leaveFor(to: MaybeSource, quiet = false): SyncStep[] {
  return [report(null, ''), { do: 'exit', to, ...(quiet ? { quiet } : {}) }];
}

/** A content that is trusted already is trusted under its new name at once. */
function trustIfKnown(source: Source, content: ContentRef, { lastKnownGood, lastKnownGoodContent }: SyncFacts): SyncStep[] {
  if (!lastKnownGoodContent || !sameContent(lastKnownGoodContent, content) || sameSource(lastKnownGood ?? null, source)) return [];
  return [{ do: 'set-last-known-good', to: source }];
}

/** Findings that a line of the journal names; more than a person reads. */
const MAX_NAMED = 30;

/** What makes two refusals of one key one: the same files for the same reasons, whatever the resourceVersion. Field names and rules only. */
export function refusalDetail({ source, content, findings }: Extract<SyncStep, { do: 'refuse' }>): string {
  const { named, more } = splitFindings(findings);
  const rules = named.map(({ field, rule }) => `${field || 'document'}(${rule})`);
  const rest = Math.max(0, rules.length - MAX_NAMED) + more;
  // The journal keeps no longer lines, and a cut one would never be found again.
  const what = content === null ? `ConfigMap ${source.uid}` : `content ${content.contentSha256.slice(0, 12)}`;
  return `${what}: ${rules.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const report = (error: string | null, detail: string) => ({ do: 'report', error, detail }) as const satisfies SyncStep;
