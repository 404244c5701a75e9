import { type AdminFacts, fallBack, recorded } from '../facts.ts';
import { contentRef, RETRY_ANNOTATION } from '../../checkpoint/payload.ts';
import { type MaybeSource, samePayload, type Source } from '../../checkpoint/source.ts';
import type { CondemnedRecord } from '../../store/store.ts';
import { unreachable } from '../../../base/errors.ts';

export type Used = 'assigned' | 'last-known-good' | 'local';

/** What is done to a copy of the store before boot runs on it. */
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

/** What to rehearse on this node, and where each must end. None of it needs the API server: boot never asks it. */
export function planDrill(facts: AdminFacts): Scenario[] {
  const harms: Harm[] =
    recorded(facts.assigned) === null
      ? ['none', 'damage-record']
      : ['none', 'damage-assigned', 'condemn-assigned', 'damage-both', 'damage-record'];
  return harms.map((harm) => ({ step: names[harm], harm, expected: fallBack(harmed(facts, harm)).used }));
}

/** The facts as they would be read from the harmed copy. */
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

export const DRILL_REASON = 'drill';

/** undefined where the checkpoint's content is not known. */
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

/** `seen` in words that compare with `expected`. */
export function checkBoot(scenario: Scenario, saw: { used: Used; usable: boolean }, ms: number): DrillStep {
  const { step, expected } = scenario;
  const seen = saw.usable ? saw.used : `${saw.used}, without an effective file that a kubelet could start on`;
  return { step, expected, seen, ms, passed: seen === expected };
}

/** The last fallback is a separate step where it is missing or broken: every other one may end well without it, on this day. */
export function localConfigStep(problem: string): DrillStep {
  return { step: 'local config, the last fallback', expected: 'can be used', seen: problem, ms: 0, passed: false };
}

export function report(steps: readonly DrillStep[]): DrillReport {
  return { passed: steps.length > 0 && steps.every((step) => step.passed), steps };
}
