import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidShown, notSupported } from '../errors.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { fieldAt, selectorErrors, textAt } from './metadata-rules.ts';
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
