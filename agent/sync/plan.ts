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
import type { CondemnedRecord, MetaName, RefusedRecord } from '../store/store.ts';

/** The assignment of this node on the API server. */
export type Wanted =
  | { at: 'local' }
  /** No object assigns anything: the node keeps its config. */
  | { at: 'absent' }
  | { at: 'source'; spec: SpecSource }
  /** configSource is set, but has no source that this agent supports. */
  | { at: 'no-source' }
  /** configSource breaks a rule of the API that this API server did not check, or the Node does not exist. */
  | { at: 'invalid'; problem: string }
  /** configSource names a namespace that this agent may not read. */
  | { at: 'forbidden'; problem: string };

/** The ConfigMap of the wanted source. */
export type Fetched =
  | {
      at: 'found';
      payload: Payload;
      content: ContentRef;
      saved: boolean;
      /** An intact checkpoint has the same uid and resourceVersion but another content: etcd was restored from a backup. */
      clashes?: true;
    }
  | { at: 'failed'; problem: string }
  | { at: 'incomplete'; problem: string }
  /** The ConfigMap exceeds the limits of a checkpoint. */
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
  /** undefined: the record is missing, so its value is unknown. */
  assigned: MaybeSource | undefined;
  assignedContent?: ContentRef;
  /** undefined: as for `assigned`. */
  lastKnownGood: MaybeSource | undefined;
  lastKnownGoodContent?: ContentRef;
  active: MaybeSource;
  activeContent?: ContentRef;
  /** The `assigned` record that boot read and tried. */
  bootAssigned: MaybeSource;
  /** The error that boot reported; null when boot used the assigned config. */
  bootError: string | null;
  /** Boot left the kubelet without a usable effective file. */
  lacksFile: boolean;
  condemned: readonly CondemnedRecord[];
  verdict: Verdict;
  /** The wanted checkpoint reads damaged although it was saved again before; `due`: the wait before the next save is over. */
  spoiled?: { due: boolean };
  /** The refusal in refused.json. */
  refused?: RefusedRecord;
  /** Records that are damaged. @default none */
  damaged?: readonly MetaName[];
}

export type SyncStep =
  /** Only if the record is still damaged then. */
  | { do: 'set-aside'; record: MetaName }
  /** `again`: the checkpoint of the assigned source was damaged; the journal then counts the saves. */
  | { do: 'save'; payload: Payload; source: Source; isRepair: boolean }
  | { do: 'clear-condemned'; content: ContentRef; source: Source }
  | { do: 'set-last-known-good'; to: MaybeSource }
  | { do: 'assign'; to: MaybeSource; why: string }
  /** The kubelet already uses this content: report the source as active, nothing restarts. */
  | { do: 'adopt'; source: MaybeSource; content?: ContentRef }
  /** `content` is null where the ConfigMap exceeds the limits of a checkpoint. */
  | { do: 'refuse'; source: Source; content: ContentRef | null; error: string; findings: readonly Finding[] }
  /** The refused config is no longer assigned to this node, or it is accepted now: remove refused.json. */
  | { do: 'clear-refusal' }
  /** `final`: no change on this node can clear the error, so the sync is not retried before the API object changes. */
  | { do: 'report'; error: string | null; detail: string; final?: true }
  /** Sends the change event first, as upstream does. `quiet`: without the event, for an exit that only retries a damaged checkpoint. */
  | { do: 'exit'; to: MaybeSource; quiet?: true };

/**
 * The steps of one sync. `save` comes before `assign`, so that `assigned` never names a missing checkpoint; `exit` comes last.
 */
export function planSync(facts: SyncFacts): SyncStep[] {
  const steps = [...(facts.damaged ?? []).map((record): SyncStep => ({ do: 'set-aside', record })), ...planWanted(facts)];
  if (!facts.refused || !isOver(facts.refused, steps, facts)) return steps;
  const exit = steps.filter((step) => step.do === 'exit');
  return [...steps.slice(0, steps.length - exit.length), { do: 'clear-refusal' }, ...exit];
}

/** Whether the refusal on disk is outdated. A refused ConfigMap that cannot be read at the moment stays refused. */
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

/** Clears both records, also where only last-known-good is set, which upstream leaves; only a change of the effective file restarts the agent. */
function planReset(facts: SyncFacts): SyncStep[] {
  const { assigned, lastKnownGood, active } = facts;
  const steps: SyncStep[] = [];
  if (lastKnownGood !== null) steps.push({ do: 'set-last-known-good', to: null });
  if (assigned !== null) steps.push({ do: 'assign', to: null, why: 'the assignment was cleared' });
  if (active !== null || (assigned !== null && assigned !== undefined)) return [...steps, ...leaveFor(null)];
  return [...steps, { do: 'adopt', source: null }, stillWrong({ ...facts, lastKnownGood: null })];
}

/** A missing object assigns nothing and clears nothing. */
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
  // The disk may have recovered: a checkpoint that boot could not read and that reads well now is saved again when that is due.
  const isUnused = isAssigned && facts.bootError === statusErrors.load && !sameSource(facts.active, source);
  if (fetched.clashes && !isUnused && isNamed(payload, facts)) return [report(statusErrors.syncInternal, clashText(source))];
  const saved = fetched.saved && !(isUnused && facts.spoiled?.due === true);
  if (!saved && facts.spoiled?.due === false)
    return [report(facts.bootError ?? statusErrors.syncInternal, 'its checkpoint is damaged after every save, retrying with longer waits')];
  const steps: SyncStep[] = saved ? [] : [{ do: 'save', payload, source, isRepair: isAssigned }];

  const condemned = facts.condemned.find((record) => sameContent(record, content));
  if (condemned) {
    // A removed annotation requests no retry.
    const retry = payload.annotations[RETRY_ANNOTATION] ?? '';
    if (retry === '' || retry === condemned.retry) return [...steps, ...reportCondemned(facts, condemned)];
    steps.push({ do: 'clear-condemned', content, source });
  }
  if (isAssigned) return [...steps, ...planSettled(source, content, saved, condemned, facts)];
  return [...steps, ...planChange(source, content, facts)];
}

/** Whether the assigned, active or last-known-good config has this uid and resourceVersion: another content must not inherit its trust. */
function isNamed(payload: PayloadRef, { assigned, active, lastKnownGood }: SyncFacts): boolean {
  return [assigned, active, lastKnownGood].some((source) => source && samePayload(source, payload));
}

function clashText({ namespace, name, uid, resourceVersion }: Source): string {
  const what = `ConfigMap ${namespace}/${name} has another content than the checkpoint of the same uid and resourceVersion (${uid}/${resourceVersion})`;
  const remedy = `kubectl -n ${namespace} annotate configmap ${name} --overwrite restored="$(date +%s)"`;
  return `${what}, as after a restore of etcd; the node keeps what it has until the ConfigMap has a new resourceVersion: ${remedy}`;
}

/** The assigned content is condemned and stays unused. Nothing new happened: no event, and the error of the rollback stays. */
function reportCondemned({ bootError }: SyncFacts, { by }: CondemnedRecord): SyncStep[] {
  const error = by === 'admin' ? statusErrors.rolledBack : statusErrors.failedTrial;
  return [
    report(
      bootError === statusErrors.failedTrial || bootError === statusErrors.rolledBack ? bootError : error,
      'its content is condemned on this node',
    ),
  ];
}

/** `assigned` already names this source. After a fallback it is retried only when the cause is gone: otherwise agent and boot would restart in a loop. */
function planSettled(source: Source, content: ContentRef, saved: boolean, cleared: unknown, facts: SyncFacts): SyncStep[] {
  const { activeContent, bootAssigned, bootError } = facts;
  if (activeContent && sameContent(activeContent, content))
    return [...trustIfKnown(source, content, facts), { do: 'adopt', source, content }, stillWrong(facts)];
  const wasCondemned = bootError === statusErrors.failedTrial || bootError === statusErrors.rolledBack;
  // The record was written after this boot read it, and a failure prevented the exit: boot has not tried this source.
  const untried = !sameSource(source, bootAssigned);
  if (untried || !saved || cleared !== undefined || wasCondemned) return leaveFor(source, !saved && !untried);
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
 * The node runs what is wanted, but a problem that boot found may persist: a damaged last-known-good until a trial writes it again, a
 * kubelet without an effective file until a local config exists.
 */
function stillWrong({ bootError, lastKnownGood, lacksFile }: SyncFacts): SyncStep {
  const lasts = bootError === statusErrors.internal && (lastKnownGood === undefined || lacksFile);
  return report(lasts ? bootError : null, lasts ? 'last-known-good was damaged, or there is no local config' : '');
}

/** Clears the error before the exit: it belongs to the previous assignment, and the Node must not show it beside the new one. */
function leaveFor(to: MaybeSource, quiet = false): SyncStep[] {
  return [report(null, ''), { do: 'exit', to, ...(quiet ? { quiet } : {}) }];
}

/** Content that is last known good already becomes last known good under its new name at once. */
function trustIfKnown(source: Source, content: ContentRef, { lastKnownGood, lastKnownGoodContent }: SyncFacts): SyncStep[] {
  if (!lastKnownGoodContent || !sameContent(lastKnownGoodContent, content) || sameSource(lastKnownGood ?? null, source)) return [];
  return [{ do: 'set-last-known-good', to: source }];
}

/** Most findings that a journal line names. */
const MAX_NAMED = 30;

/** Identifies a refusal within one key: the same files and the same reasons, at any resourceVersion. Field names and rules only, no values. */
export function refusalDetail({ source, content, findings }: Extract<SyncStep, { do: 'refuse' }>): string {
  const { named, more } = splitFindings(findings);
  const rules = named.map(({ field, rule }) => `${field || 'document'}(${rule})`);
  const rest = Math.max(0, rules.length - MAX_NAMED) + more;
  // The journal cuts longer lines, and a cut line would not match on the next comparison.
  const what = content === null ? `ConfigMap ${source.uid}` : `content ${content.contentSha256.slice(0, 12)}`;
  return `${what}: ${rules.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const report = (error: string | null, detail: string) => ({ do: 'report', error, detail }) as const satisfies SyncStep;
