import { rfc3339 } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { labelSelectorOf, matchesLabels } from '../../kube/api/selector.ts';
import { storageName } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { fieldAt, listAt, textAt } from '../kinds/metadata-rules.ts';
import { badRequest, notFound, StatusError, TODAY } from '../errors.ts';
import { storageKey } from '../storage/storage.ts';
import type { Context } from './context.ts';
import { deleteObject } from './delete.ts';
import { deleteOptions } from './write-options.ts';

const PODS = '/pods';
const BUDGETS = 'policy/poddisruptionbudgets';

/** Most entries of status.disruptedPods: evicted pods that the disruption controller has not yet seen deleted. As on a real server. */
const MAX_DISRUPTED = 2000;

/** Whether a subresource of a kind is that of evictions. */
export function isEviction({ kind }: ServedKind, subresource: string): boolean {
  return subresource === 'eviction' && storageName(kind) === PODS;
}

/**
 * Deletes a pod if its disruption budget allows that, and counts it there.
 * @throws StatusError 404, 409 for preconditions, 429 where the budget does not allow it, 500 for several budgets
 */
export function evict(
  context: Context,
  served: ServedKind,
  at: { namespace: string; name: string },
  body: Record<string, unknown>,
  query: URLSearchParams,
): void {
  const version = textAt(body, 'apiVersion');
  if (!['', 'policy/v1beta1', 'policy/v1'].includes(version) || !['', 'Eviction'].includes(textAt(body, 'kind'))) {
    throw badRequest(`no kind ${JSON.stringify(body['kind'])} is registered for version ${JSON.stringify(version)}`);
  }
  const named = textAt(body, 'metadata', 'name');
  if (named !== '' && named !== at.name) throw badRequest('name in URL does not match name in Eviction object');
  const pod = context.storage.get(PODS, storageKey(at.namespace, at.name));
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, at.name);
  const given = isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {};
  const options = deleteOptions(given, query);
  const dryRun = options.dryRun || query.getAll('dryRun').length > 0;
  // Preconditions are looked at before the budget is.
  deleteObject(context, served, at, { ...options, dryRun: true });
  const budget = needsNoBudget(pod) ? undefined : budgetOf(context, pod);
  if (budget !== undefined && !isSurplus(pod, budget)) {
    const spent = decremented(budget, at.name, rfc3339(context.clock.now()), context.registry.release);
    if (!dryRun) context.storage.put(BUDGETS, storageKey(at.namespace, budget.metadata.name ?? ''), spent);
  }
  deleteObject(context, served, at, { ...options, dryRun });
}

/** It does not run, or is terminating already. */
function needsNoBudget(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status', 'phase'));
}

/** It is not ready and the budget has enough healthy pods without it. */
function isSurplus(pod: KubeObject, budget: KubeObject): boolean {
  const isReady = listAt(pod, 'status', 'conditions').some((one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True');
  const desired = numberAt(budget, 'desiredHealthy');
  return !isReady && desired > 0 && numberAt(budget, 'currentHealthy') >= desired;
}

function budgetOf(context: Context, pod: KubeObject): KubeObject | undefined {
  const selects = (budget: KubeObject): boolean => {
    const selector = fieldAt(budget, 'spec', 'selector');
    if (!isJsonObject(selector) || Object.keys(selector).length === 0) return false;
    return matchesLabels(labelSelectorOf(selector), pod.metadata.labels);
  };
  const found = context.storage.list(BUDGETS, pod.metadata.namespace).objects.filter(selects);
  if (found.length <= 1) return found[0];
  // The real server gives no reason either.
  throw new StatusError(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
}

function decremented(budget: KubeObject, pod: string, now: string, release: number): KubeObject {
  const { name = '', generation = 0 } = budget.metadata;
  const allowed = numberAt(budget, 'disruptionsAllowed');
  const status = isJsonObject(budget['status']) ? budget['status'] : {};
  const disrupted = isJsonObject(status['disruptedPods']) ? status['disruptedPods'] : {};
  if (numberAt(budget, 'observedGeneration') < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`);
  }
  if (Object.keys(disrupted).length > MAX_DISRUPTED)
    throw refused('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed <= 0) {
    const [desired, healthy] = [numberAt(budget, 'desiredHealthy'), numberAt(budget, 'currentHealthy')];
    const isShort = healthy <= desired || release < TODAY;
    const why = isShort ? `needs ${desired} healthy pods and has ${healthy} currently` : 'does not allow evicting pods currently';
    throw refused(`The disruption budget ${name} ${why}`);
  }
  return { ...budget, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [pod]: now } } };
}

function refused(why: string): StatusError {
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
  });
}

function numberAt(budget: KubeObject, field: string): number {
  const found = fieldAt(budget, 'status', field);
  return typeof found === 'number' ? found : 0;
}
