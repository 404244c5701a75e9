import { type ConfigMap, contentHash, keyOf, numberOf, RETRY_ANNOTATION, revisionName, revisionOf } from './revision.ts';
import type { Rules } from './rules.ts';
import { rfc3339 } from '../../base/clock.ts';
import { wasClockSet } from './clock-gaps.ts';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import type { Action, Facts } from './contract.ts';
import type { Approval, NodeFailure } from './types.ts';

/** The progress of a rollout, carried on from its status. */
export interface Progress {
  /** Name of the copy that nodes get. */
  revision: string;
  /** What nodes are rolled back to; undefined: local. */
  previousRevision: string | undefined;
  stopped: 'Failures' | 'Aborted' | undefined;
  complete: boolean;
  /** From 1. */
  step: number;
  /** RFC 3339. */
  stepSettledAt: string | undefined;
  failures: readonly NodeFailure[];
  approvals: readonly Approval[];
  attempt: number;
  /** When a retry was requested from nodes that have the revision already (RFC 3339); undefined: none was. */
  attemptAt: string | undefined;
}

/**
 * The revision was the last complete one: a user has undone what came after it, or restored the ConfigMap. All nodes have run this revision, and the one that
 * some have now is unwanted, so there are no steps, holds or approvals. Argo Rollouts skips its steps on the way back to the stable version too.
 */
export const isReturn = ({ revision, previousRevision }: Pick<Progress, 'revision' | 'previousRevision'>): boolean =>
  revision === previousRevision;

/** The first part of a plan: the copy of the ConfigMap must exist, and be the newest. */
export type Begin =
  /** @member missing - why the ConfigMap cannot be rolled out: nodes in flight continue, and no further node is touched */
  | { progress: Progress; isNew: boolean; actions: readonly Action[]; missing?: string }
  /** There is nothing to roll out. */
  | { missing: string };

/**
 * Which revision is rolled out now, and its progress. A ConfigMap whose content changed starts a new rollout; so does the same content when spec
 * asks for another attempt. Pure.
 */
export function begin({ rules, source, revisions, now, gaps }: Facts): Begin {
  const { configMap, status: prior } = rules;
  const named = (name: string) => revisions.find(({ metadata }) => metadata.name === name);
  const { namespace, name, kubeletConfigKey } = configMap;
  const current = prior.revision === undefined ? undefined : named(prior.revision);
  if (source === undefined && current === undefined) return { missing: `ConfigMap ${namespace}/${name} not found` };
  const missing = source && whyUnusable(source, rules);
  // After the clock was set, nodes would fail too late or too early.
  const isMisdated = prior.attemptAt !== undefined && wasClockSet(Date.parse(prior.attemptAt), now, gaps);
  const attemptAt = isMisdated ? rfc3339(now) : prior.attemptAt;
  // Nodes that have the earlier revision still fail, settle, and go back.
  if (missing !== undefined) {
    if (current === undefined) return { missing };
    // A new attempt in spec begins once the ConfigMap is corrected.
    const progress = { ...carriedOn(prior.revision ?? '', rules, attemptAt), attempt: prior.attempt ?? 1 };
    return { missing, isNew: false, actions: [], progress };
  }
  // A source that is a copy of this rollout keeps its name: that is how a rollout is undone. Another key of the copy is another configuration, and is copied.
  // Without the source, the last copy stays the revision.
  const own = named(name);
  const revision =
    source === undefined
      ? (prior.revision ?? '')
      : own === undefined || keyOf(own, kubeletConfigKey) !== kubeletConfigKey
        ? revisionName(rules.name, contentHash(source, kubeletConfigKey))
        : name;
  const actions = inHistory(revision, { rules, source, revisions });
  const isAgain = rules.attempt > (prior.attempt ?? 1);
  const asks = {
    attempt: rules.attempt,
    attemptAt: isAgain || actions.some((one) => one.do === 'retry-revision') ? rfc3339(now) : undefined,
  };
  if (prior.revision !== revision) {
    const last = prior.complete === true ? prior.revision : prior.previousRevision;
    return { isNew: true, actions, progress: fresh(revision, last === revision ? prior.previousRevision : last, asks) };
  }
  if (isAgain) {
    // A complete revision has no steps, and is not rolled back: failed nodes are retried.
    if (prior.complete === true)
      return { isNew: false, actions, progress: { ...carriedOn(revision, rules, asks.attemptAt), failures: [] } };
    return { isNew: true, actions, progress: fresh(revision, prior.previousRevision, asks) };
  }
  return { isNew: false, actions, progress: carriedOn(revision, rules, attemptAt) };
}

function whyUnusable({ data = {} }: Readonly<ConfigMap>, { configMap, signatureRequired }: Rules): string | undefined {
  const what = `ConfigMap ${configMap.namespace}/${configMap.name}`;
  if (data[configMap.kubeletConfigKey] === undefined) return `${what} has no key ${JSON.stringify(configMap.kubeletConfigKey)}`;
  if (!signatureRequired || data[SIGNATURE_KEY] !== undefined) return undefined;
  return `${what} is not signed, but spec.signature.required is true; sign it with dkc sign`;
}

function carriedOn(revision: string, { status: prior, steps, attempt }: Rules, attemptAt: string | undefined): Progress {
  return {
    revision,
    previousRevision: prior.previousRevision,
    stopped: prior.stopped,
    complete: prior.complete === true,
    step: Math.min(Math.max(1, prior.step ?? 1), steps.length),
    stepSettledAt: prior.stepSettledAt,
    failures: prior.failures ?? [],
    approvals: prior.approvals ?? [],
    attempt,
    attemptAt,
  };
}

function fresh(revision: string, previousRevision: string | undefined, retry: Pick<Progress, 'attempt' | 'attemptAt'>): Progress {
  return {
    revision,
    previousRevision,
    stopped: undefined,
    complete: false,
    step: 1,
    stepSettledAt: undefined,
    failures: [],
    approvals: [],
    ...retry,
  };
}

const retryOf = ({ uid, attempt }: Pick<Rules, 'uid' | 'attempt'>): string => `${uid}/${attempt}`;

/** Whether a copy requests a retry from agents for this attempt. */
export const requestsRetry = ({ metadata }: Readonly<ConfigMap>, of: Pick<Rules, 'uid' | 'attempt'>): boolean =>
  metadata.annotations?.[RETRY_ANNOTATION] === retryOf(of);

/** Ensures that the revision exists, and that no other one has a higher number. */
function inHistory(revision: string, { rules, source, revisions }: Pick<Facts, 'rules' | 'source' | 'revisions'>): Action[] {
  const highest = Math.max(0, ...revisions.map(numberOf));
  const existing = revisions.find(({ metadata }) => metadata.name === revision);
  if (existing === undefined)
    return source === undefined ? [] : [{ do: 'create-revision', revision: revisionOf(rules.rollout, source, revision, highest + 1) }];
  const actions: Action[] = [];
  if (numberOf(existing) < highest || numberOf(existing) === 0)
    actions.push({ do: 'number-revision', revision: existing, number: highest + 1 });
  if (rules.attempt > 1 && !requestsRetry(existing, rules))
    actions.push({ do: 'retry-revision', revision: existing, retry: retryOf(rules) });
  return actions;
}

/** Revisions to delete: the oldest beyond the limit, except those that a node uses, the current and the previous one. */
export function planHistory({ rules, revisions, isUsed }: Facts, { revision, previousRevision }: Progress): Action[] {
  if (revisions.length <= rules.historyLimit) return [];
  const named = new Set([revision, previousRevision, rules.configMap.name]);
  const old = revisions
    .filter(({ metadata: { name = '' } }) => !named.has(name) && !isUsed(name))
    .toSorted((a, b) => numberOf(a) - numberOf(b));
  const kept = revisions.length - old.length;
  const excess = Math.max(0, old.length - Math.max(0, rules.historyLimit - kept));
  return old.slice(0, excess).map((one) => ({ do: 'delete-revision', revision: one }));
}
