import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { anything, flag, list, object, ref } from '../openapi/schema.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { listAt } from './metadata-rules.ts';

/** Stored only: nobody makes tokens for them. */
export const serviceAccounts: Kind = {
  resource: 'serviceaccounts',
  singular: 'serviceaccount',
  kind: 'ServiceAccount',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['sa'],
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  columns: [
    nameColumn,
    { name: 'Secrets', type: 'integer', description: 'Number of secrets.', cell: (account) => listAt(account, 'secrets').length },
    ageColumn,
  ],
  schema: object('Who a pod is.', {
    metadata: ref('ObjectMeta', 'Name, labels and the like.'),
    secrets: list('Secrets its pods may use.', anything('A secret.'), { by: 'name' }),
    imagePullSecrets: list('Secrets for pulling images.', anything('A secret.')),
    automountServiceAccountToken: flag('Pods get a token.'),
  }),
};
