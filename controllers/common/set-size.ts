import type { PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { LabelSelectorObject } from '../../kube/api/selector.ts';
import type { SetEvent } from './events.ts';

/** Max requirements to evaluate for every orphan of a namespace. Each sixteen values of a requirement count as one more. */
const MAX_SELECTOR_STEPS = 500;
/** Max requirements to evaluate for every node. Values count as above. */
const MAX_PLACEMENT_STEPS = 500;
/** Max volumes to look up in each pod. */
const MAX_VOLUMES = 1_000;
/** Each pod gets a claim from each template. */
const MAX_CLAIM_TEMPLATES = 100;
/** Max labels, annotations and finalizers of all claim templates, including the labels that the selector adds to each. */
const MAX_CLAIM_FIELDS = 20_000;

/** The parts of a set that are measured. */
export interface Sized {
  selector: LabelSelectorObject | undefined;
  template: Readonly<PodTemplateSpec>;
  claimTemplates?: readonly { metadata?: { labels?: object; annotations?: object; finalizers?: readonly string[] } }[];
}

/**
 * Finds sets that would take more than their share of a process that syncs thousands: each of these counts is multiplied by the nodes, pods or orphans of
 * a cluster. The size of the object bounds everything else. Pure.
 * @returns which limit the set exceeds; undefined for a set that can be synced
 */
export function tooLarge({ selector, template, claimTemplates = [] }: Sized): string | undefined {
  const counts: [count: number, most: number, what: string][] = [
    [selectorSteps(selector), MAX_SELECTOR_STEPS, 'requirements in spec.selector'],
    [placementSteps(template.spec), MAX_PLACEMENT_STEPS, 'node selector terms and tolerations in spec.template'],
    [template.spec?.volumes?.length ?? 0, MAX_VOLUMES, 'volumes in spec.template'],
    [claimTemplates.length, MAX_CLAIM_TEMPLATES, 'claim templates'],
    [claimFields(claimTemplates, selector?.matchLabels), MAX_CLAIM_FIELDS, 'labels and annotations in claim templates'],
  ];
  const over = counts.find(([count, most]) => count > most);
  if (over !== undefined) return `it has ${over[0]} ${over[2]}, more than the limit of ${over[1]}`;
  switch (templateExcess(template)) {
    case 'depth':
      return `spec.template is nested deeper than ${MAX_DEPTH} levels`;
    case 'values':
      return `spec.template has more than ${MAX_VALUES} values`;
    case undefined:
      return undefined;
  }
}

/** The event about a set that is too large. */
export function tooLargeEvent(why: string): SetEvent {
  return { type: 'Warning', reason: 'SetTooLarge', message: `The set is not synced: ${why}` };
}

/** The selector; undefined, which selects nothing, when it is too large to evaluate. */
export function readableSelector(selector: LabelSelectorObject | undefined): LabelSelectorObject | undefined {
  return selectorSteps(selector) > MAX_SELECTOR_STEPS ? undefined : selector;
}

const measured = new WeakMap<object, ReturnType<typeof excessOf>>();

/** The cache keeps an unchanged template as the same object, so each template is measured once. */
function templateExcess(template: object): ReturnType<typeof excessOf> {
  if (!measured.has(template)) measured.set(template, excessOf(template));
  return measured.get(template);
}

/** Requirements to evaluate for each pod. */
export function selectorSteps(selector: LabelSelectorObject | undefined): number {
  const { matchLabels, matchExpressions = [] } = selector ?? {};
  return keys(matchLabels) + expressionSteps(matchExpressions);
}

/** Requirements to evaluate for each node. */
export function placementSteps(spec: PodSpec | undefined): number {
  const { nodeSelector, affinity, tolerations = [] } = spec ?? {};
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  let steps = keys(nodeSelector) + tolerations.length + terms.length;
  for (const { matchExpressions = [], matchFields = [] } of terms)
    steps += expressionSteps(matchExpressions) + expressionSteps(matchFields);
  return steps;
}

function expressionSteps(expressions: readonly { values?: readonly string[] }[]): number {
  return expressions.reduce((sum, { values = [] }) => sum + 1 + Math.floor(values.length / 16), 0);
}

/** Number of metadata entries in the claims of one pod. @param matchLabels - labels that each claim gets */
export function claimFields(templates: NonNullable<Sized['claimTemplates']>, matchLabels: object | undefined): number {
  const added = keys(matchLabels);
  const own = templates.reduce(
    (sum, { metadata }) => sum + keys(metadata?.labels) + keys(metadata?.annotations) + (metadata?.finalizers?.length ?? 0),
    0,
  );
  return own + added * templates.length;
}

function keys(fields: object | undefined): number {
  return fields === undefined ? 0 : Object.keys(fields).length;
}

/** Max nesting of lists and objects: a valid pod template has about a dozen levels. */
export const MAX_DEPTH = 100;
/** Max values, lists and objects: about six thousand environment variables. */
export const MAX_VALUES = 20_000;

/**
 * Whether a value is nested deeper, or holds more values, than a template may. Not recursive, and stops counting at the bound, so any value is safe to pass.
 * @returns undefined when the value is within both bounds
 */
export function excessOf(value: unknown, most = { depth: MAX_DEPTH, values: MAX_VALUES }): 'depth' | 'values' | undefined {
  let left = most.values;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most.depth) return 'depth';
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const values: unknown[] = Array.isArray(item) ? item : Object.values(item);
      left -= values.length;
      if (left < 0) return 'values';
      for (const one of values) if (typeof one === 'object' && one !== null) next.push(one);
    }
    level = next;
  }
  return undefined;
}
