import { type AdminFacts, fallBack, recorded, viewActive } from '../facts.ts';
import { drillCondemnation, type Used } from '../drill/plan.ts';
import { sameSource, sourceText, type MaybeSource, type Source } from '../../checkpoint/source.ts';
import type { ReadActive } from '../../store/active-record.ts';
import type { CondemnedRecord, JournalLine } from '../../store/store.ts';

/** Where the node shall be: which record is in use, and what it names. */
export interface Place {
  used: Used;
  source: MaybeSource;
}

export type LivePlan =
  /** This node is in no state to be drilled: exit 1. */
  | { at: 'refused'; why: string }
  | { at: 'planned'; record: CondemnedRecord; journal: JournalLine; there: Place; back: Place & { source: Source } };

/** There and back: condemn what is assigned, arrive where boot falls back to, take it back, arrive where we began. */
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

/** What a look at the node shows, a few small files and one request. */
export interface Peek {
  active: ReadActive | undefined;
  /** '' when there is no effective file. */
  effectiveSha256: string;
  /** Of the file that the kubelet was started with; undefined where nothing on this node keeps that. */
  startedSha256?: string;
  /** undefined where no health is asked. */
  healthy?: boolean;
}

/** The agent has arrived: it says so, and the file on disk is the one it means. */
export function hasSwitched(peek: Peek, place: Place): boolean {
  if (!peek.active?.ok) return false;
  const { used, source, effectiveSha256 } = peek.active.record;
  return used === place.used && sameSource(source, place.source) && effectiveSha256 === peek.effectiveSha256 && effectiveSha256 !== '';
}

/** The kubelet runs on the effective file, as far as this node shows it. */
export function isHealthyOn(peek: Peek): boolean {
  return peek.healthy !== false && (peek.startedSha256 === undefined || peek.startedSha256 === peek.effectiveSha256);
}

/** For `seen`, in words. */
export function describePeek(peek: Peek): string {
  const using = peek.active?.ok ? peek.active.record.used : 'unknown';
  const health = peek.healthy === false ? ', kubelet not healthy' : '';
  const old = isHealthyOn({ ...peek, healthy: true }) ? '' : ', kubelet still on another file';
  return `${using}${health}${old}`;
}

/** For people who are asked whether they mean it. */
export function describeLive(plan: Extract<LivePlan, { at: 'planned' }>): string {
  return [
    `would condemn ${sourceText(plan.back.source)}, which restarts the kubelet with ${plan.there.used} (${sourceText(plan.there.source)}),`,
    'wait until the kubelet is healthy on that, then clear the condemnation, which restarts the kubelet once more',
  ].join(' ');
}
