import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidShown, notSupported, StatusError, TODAY } from '../errors.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { fieldAt, listAt, selectorErrors, textAt } from './metadata-rules.ts';
import { countOrPercent, notAboveAll, notNegative } from './number-rules.ts';
import { countColumn } from './set-rules.ts';
import { typed } from './types/typed.ts';

function validate({ spec }: KubeObject): FieldError[] {
  const [least, most] = [fieldAt(spec, 'minAvailable'), fieldAt(spec, 'maxUnavailable')];
  const errors: FieldError[] = [];
  if (least !== undefined && most !== undefined)
    errors.push(invalidShown('spec', 'policy.PodDisruptionBudgetSpec{}', 'minAvailable and maxUnavailable cannot be both set'));
  for (const [value, path] of [
    [least, 'spec.minAvailable'],
    [most, 'spec.maxUnavailable'],
  ] as const) {
    errors.push(...countOrPercent(value, path), ...notAboveAll(value, path));
  }
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  if (policy !== '' && !policies.includes(policy)) errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, policies));
  return [...errors, ...selectorErrors(fieldAt(spec, 'selector'), 'spec.selector')];
}

const noStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

/** Served in two versions: 1.20 has only `v1beta1`, 1.25 and later only `v1`. The disruption controller writes the status. */
export const podDisruptionBudgets: Kind = {
  resource: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  kind: 'PodDisruptionBudget',
  served: [
    { group: 'policy', version: 'v1', since: 21 },
    { group: 'policy', version: 'v1beta1', until: 24 },
  ],
  namespaced: true,
  shortNames: ['pdb'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (budget) => ({ ...budget, status: noStatus }),
  validate,
  validateUpdate: (now, _old, { subresource, release }) => {
    if (subresource !== 'status') return validate(now);
    return release < 21 ? [] : notNegative(now['status'], 'status', ...Object.keys(noStatus));
  },
  columns: [
    nameColumn,
    {
      name: 'Min Available',
      description: 'Pods that must stay available.',
      cell: (budget) => textAt(budget, 'spec', 'minAvailable') || 'N/A',
    },
    {
      name: 'Max Unavailable',
      description: 'Pods that may be unavailable.',
      cell: (budget) => textAt(budget, 'spec', 'maxUnavailable') || 'N/A',
    },
    countColumn('Allowed Disruptions', 'Pods that may be evicted now.', 'status', 'disruptionsAllowed'),
    ageColumn,
  ],
  schema: typed('PodDisruptionBudget', 'Limits how many pods may be evicted at once.'),
};

/** The pod is not ready, and the budget has enough healthy pods without it. */
export function isSurplus(pod: KubeObject, budget: KubeObject): boolean {
  const isReady = listAt(pod, 'status', 'conditions').some((one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True');
  const desired = numberAt(budget, 'desiredHealthy');
  return !isReady && desired > 0 && numberAt(budget, 'currentHealthy') >= desired;
}

/** Maximum number of entries of status.disruptedPods (evicted pods whose deletion the disruption controller has not yet seen), as on a real server. */
const MAX_DISRUPTED = 2000;

/** The budget once this pod is evicted. @throws StatusError 429 if it does not allow that */
export function afterEviction(budget: KubeObject, pod: string, now: string, release: number): KubeObject {
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
