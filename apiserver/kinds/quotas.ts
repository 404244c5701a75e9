import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';
import { typed } from './types/typed.ts';

/*
 * Stored only: nothing here holds anybody to them.
 */

/** `cpu: 1/2, pods: 3/5`: what is used of what may be. */
function used(quota: KubeObject, limits: boolean): string {
  const hard = fieldAt(quota, 'status', 'hard');
  const names = Object.keys(isJsonObject(hard) ? hard : {}).sort();
  const amount = (field: string, name: string) => textAt(quota, 'status', field, name) || '0';
  return names
    .filter((name) => name.startsWith('limits.') === limits)
    .map((name) => `${name}: ${amount('used', name)}/${amount('hard', name)}`)
    .join(', ');
}

export const resourceQuotas: Kind = {
  resource: 'resourcequotas',
  singular: 'resourcequota',
  kind: 'ResourceQuota',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['quota'],
  hasStatus: true,
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (quota) => ({ ...quota, status: {} }),
  columns: [
    nameColumn,
    ageColumn,
    { name: 'Request', description: 'What is asked for of what may be.', cell: (quota) => used(quota, false) },
    { name: 'Limit', description: 'What is limited of what may be.', cell: (quota) => used(quota, true) },
  ],
  schema: typed('ResourceQuota', 'How much a namespace may have.'),
};

export const limitRanges: Kind = {
  resource: 'limitranges',
  singular: 'limitrange',
  kind: 'LimitRange',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['limits'],
  nameProblems: dnsSubdomainProblems,
  columns: [
    nameColumn,
    { name: 'Created At', type: 'date', description: 'When it was made.', cell: (range) => range.metadata.creationTimestamp ?? '' },
  ],
  schema: typed('LimitRange', 'How much one pod may have.'),
};
