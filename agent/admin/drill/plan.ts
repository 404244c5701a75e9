import { type AdminFacts, fallBack, recorded, viewActive } from '../facts.ts';
import { contentRef, RETRY_ANNOTATION } from '../../checkpoint/payload.ts';
import { type MaybeSource, samePayload, sameSource, type Source, sourceText } from '../../checkpoint/source.ts';
import type { CondemnedRecord, JournalLine } from '../../store/store.ts';
import { unreachable } from '../../../base/errors.ts';
import type { ReadActive } from '../../store/active-record.ts';

type Used = 'assigned' | 'last-known-good' | 'local';

/** How a copy of the store is damaged before boot runs on it. */
export type Harm = 'none' | 'damage-assigned' | 'condemn-assigned' | 'damage-both' | 'damage-record';

export interface Scenario {
  step: string;
  harm: Harm;
  expected: Used;
}

export interface DrillStep {
  step: string;
  expected: string;
  seen: string;
  ms: number;
  passed: boolean;
}

/** `dkc drill -o json`. */
export interface DrillReport {
  passed: boolean;
  steps: readonly DrillStep[];
}

const names: Readonly<Record<Harm, string>> = {
  none: 'boot with the store as it is',
  'damage-assigned': 'checkpoint of the assigned config damaged',
  'condemn-assigned': 'assigned config condemned',
  'damage-both': 'checkpoints of assigned and last-known-good damaged',
  'damage-record': 'record of the assigned config damaged',
};

/** The scenarios for this node, and the config that each must end with. None needs the API server, since boot does not use it. */
export function planDrill(facts: AdminFacts): Scenario[] {
  const harms: Harm[] =
    recorded(facts.assigned) === null
      ? ['none', 'damage-record']
      : ['none', 'damage-assigned', 'condemn-assigned', 'damage-both', 'damage-record'];
  return harms.map((harm) => ({ step: names[harm], harm, expected: fallBack(harmed(facts, harm)).used }));
}

/** The facts as they would be read from the damaged copy. */
function harmed(facts: AdminFacts, harm: Harm): AdminFacts {
  const assigned = recorded(facts.assigned);
  const trusted = recorded(facts.lastKnownGood);
  switch (harm) {
    case 'none':
      return facts;
    case 'damage-record':
      return { ...facts, assigned: { at: 'damaged', path: '', problem: '' } };
    case 'damage-assigned':
      return withoutCheckpoints(facts, [assigned]);
    case 'damage-both':
      return withoutCheckpoints(facts, [assigned, trusted]);
    case 'condemn-assigned': {
      const record = assigned && drillCondemnation(assigned, facts, '');
      return record ? { ...facts, condemned: [...facts.condemned, record] } : facts;
    }
    default:
      return unreachable(harm);
  }
}

function withoutCheckpoints(facts: AdminFacts, gone: readonly MaybeSource[]): AdminFacts {
  return { ...facts, entries: facts.entries.filter((entry) => !gone.some((source) => source && samePayload(source, entry.ref))) };
}

const DRILL_REASON = 'drill';

/** undefined where the content of the checkpoint is unknown. */
export function drillCondemnation(assigned: Source, facts: AdminFacts, at: string): CondemnedRecord | undefined {
  const manifest = facts.entries.find((entry) => samePayload(entry.ref, assigned))?.manifest;
  if (!manifest) return undefined;
  const { uid, resourceVersion, namespace, name } = assigned;
  const content = contentRef(manifest.files, assigned.kubeletConfigKey);
  return {
    uid,
    resourceVersion,
    ...content,
    reason: DRILL_REASON,
    evidence: [],
    by: 'admin',
    at,
    namespace,
    name,
    retry: manifest.annotations[RETRY_ANNOTATION] ?? '',
  };
}

/** The step's result, with `seen` in the words of `expected`. */
export function checkBoot(scenario: Scenario, saw: { used: Used; usable: boolean }, ms: number): DrillStep {
  const { step, expected } = scenario;
  const seen = saw.usable ? saw.used : `${saw.used}, without an effective file that a kubelet could start on`;
  return { step, expected, seen, ms, passed: seen === expected };
}

/** A separate, failed step for a missing or broken local config, the last fallback: all other steps may pass without it. */
export function localConfigStep(problem: string): DrillStep {
  return { step: 'local config, the last fallback', expected: 'can be used', seen: problem, ms: 0, passed: false };
}

export function report(steps: readonly DrillStep[]): DrillReport {
  return { passed: steps.length > 0 && steps.every((step) => step.passed), steps };
}

/** The config that the node must use: which record, and its source. */
export interface Place {
  used: Used;
  source: MaybeSource;
}

export type LivePlan =
  /** The state of this node does not allow a live drill: exit 1. */
  | { at: 'refused'; why: string }
  | { at: 'planned'; record: CondemnedRecord; journal: JournalLine; there: Place; back: Place & { source: Source } };

/** Condemns the assigned config, waits for the fallback, clears the condemnation, and waits for the assigned config. */
export function planLiveDrill(facts: AdminFacts, at: string): LivePlan {
  const no = (why: string): LivePlan => ({ at: 'refused', why });
  const assigned = recorded(facts.assigned);
  if (assigned === null) return no('nothing is assigned to this node, so there is nothing to fall back from');
  const active = viewActive(facts);
  if (active.from !== 'agent') return no('the agent has not recorded which config it uses; is it running, and is it of this version?');
  if (active.used !== 'assigned' || !sameSource(active.source, assigned)) return no('this node has already fallen back; see dkc status');
  const record = drillCondemnation(assigned, facts, at);
  if (!record) return no('the checkpoint of the assigned config is missing or damaged; see dkc checkpoints verify');
  const { used, source } = fallBack({ ...facts, condemned: [...facts.condemned, record] });
  const journal: JournalLine = {
    at,
    event: 'rolled-back',
    source: assigned,
    detail: 'live drill: the condemnation will be cleared automatically',
  };
  return { at: 'planned', record, journal, there: { used, source }, back: { used: 'assigned', source: assigned } };
}

/** The node's state from a few small files and one request. */
export interface Peek {
  active: ReadActive | undefined;
  /** '' when there is no effective file. */
  effectiveSha256: string;
  /** SHA-256 of the file that the kubelet was started with; undefined where no copy of it exists. */
  startedSha256?: string;
  /** undefined where health is not probed. */
  healthy?: boolean;
}

/** Whether the agent uses this config: active.json names it, and the effective file on disk has the hash in active.json. */
export function hasSwitched(peek: Peek, place: Place): boolean {
  if (!peek.active?.ok) return false;
  const { used, source, effectiveSha256 } = peek.active.record;
  return used === place.used && sameSource(source, place.source) && effectiveSha256 === peek.effectiveSha256 && effectiveSha256 !== '';
}

/** Whether the kubelet is healthy and runs on the effective file, as far as this node shows it. */
export function isHealthyOn(peek: Peek): boolean {
  return peek.healthy !== false && (peek.startedSha256 === undefined || peek.startedSha256 === peek.effectiveSha256);
}

/** Text for `seen`. */
export function describePeek(peek: Peek): string {
  const using = peek.active?.ok ? peek.active.record.used : 'unknown';
  const health = peek.healthy === false ? ', kubelet not healthy' : '';
  const old = isHealthyOn({ ...peek, healthy: true }) ? '' : ', kubelet still on another file';
  return `${using}${health}${old}`;
}

/** Text of the confirmation prompt. */
export function describeLive(plan: Extract<LivePlan, { at: 'planned' }>): string {
  return [
    `would condemn ${sourceText(plan.back.source)}, which restarts the kubelet with ${plan.there.used} (${sourceText(plan.there.source)}),`,
    'wait until the kubelet is healthy on that, then clear the condemnation, which restarts the kubelet once more',
  ].join(' ');
}
