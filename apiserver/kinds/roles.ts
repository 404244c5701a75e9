import { jsonEqual } from '../../kube/api/json.ts';
import { type FieldError, invalidShown, notSupported, required } from '../errors.ts';
import { ageColumn, type Column, type Kind, nameColumn } from './kind.ts';
import { goText, goTextList, listAt, textAt } from './metadata-rules.ts';
import { mapField, mapItems, withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { anything, flag, list, object, ref } from '../openapi/schema.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** Stored only: no controller creates tokens for service accounts. */
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
    {
      name: 'Secrets',
      until: 33,
      type: 'integer',
      description: 'Number of secrets.',
      cell: (account) => listAt(account, 'secrets').length,
    },
    ageColumn,
  ],
  schema: object('Identity for processes in pods.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    secrets: list('Secrets that its pods may use.', anything('A secret.'), { by: 'name' }),
    imagePullSecrets: list('Secrets for pulling images.', anything('A secret.')),
    automountServiceAccountToken: flag('Whether pods get a token.'),
  }),
};

export const RBAC = 'rbac.authorization.k8s.io';

/** Names of roles may contain colons and capitals: anything that is valid in a path segment. */
function pathSegmentProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}

function ruleErrors(role: KubeObject, namespaced: boolean): FieldError[] {
  return listAt(role, 'rules').flatMap((rule, at) => {
    const path = `rules[${at}]`;
    const size = (field: string) => listAt(rule, field).length;
    const errors: FieldError[] = [];
    if (size('verbs') === 0) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
    if (size('nonResourceURLs') > 0) {
      const urls = listAt(rule, 'nonResourceURLs');
      const shown = goTextList(urls);
      if (namespaced)
        errors.push(invalidShown(`${path}.nonResourceURLs`, shown, 'namespaced rules cannot apply to non-resource URLs', urls));
      else if (size('apiGroups') + size('resources') + size('resourceNames') > 0)
        errors.push(
          invalidShown(`${path}.nonResourceURLs`, shown, 'rules cannot apply to both regular resources and non-resource URLs', urls),
        );
      return errors;
    }
    if (size('apiGroups') === 0) errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    if (size('resources') === 0) errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
    return errors;
  });
}

function bindingDefaults(binding: KubeObject): KubeObject {
  const named = mapField(binding, 'roleRef', (role) => (textAt(role, 'apiGroup') === '' ? { ...Object(role), apiGroup: RBAC } : role));
  return mapItems(named, 'subjects', (subject) =>
    ['User', 'Group'].includes(textAt(subject, 'kind')) ? withDefaults(subject, { apiGroup: RBAC }) : subject,
  );
}

const subjectKinds = ['ServiceAccount', 'User', 'Group'];

function bindingErrors(binding: KubeObject, roleKinds: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const group = textAt(binding, 'roleRef', 'apiGroup');
  if (group !== RBAC) errors.push(notSupported('roleRef.apiGroup', group, [RBAC]));
  const kind = textAt(binding, 'roleRef', 'kind');
  if (!roleKinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, roleKinds));
  if (textAt(binding, 'roleRef', 'name') === '') errors.push(required('roleRef.name', ''));
  listAt(binding, 'subjects').forEach((subject, at) => {
    if (textAt(subject, 'name') === '') errors.push(required(`subjects[${at}].name`, ''));
    const of = textAt(subject, 'kind');
    if (!subjectKinds.includes(of)) errors.push(notSupported(`subjects[${at}].kind`, of, subjectKinds));
  });
  return errors;
}

function roleKept(now: KubeObject, old: KubeObject): FieldError[] {
  const role = now['roleRef'];
  if (jsonEqual(role, old['roleRef'])) return [];
  const [APIGroup, Kind, Name] = ['apiGroup', 'kind', 'name'].map((field) => textAt(role, field));
  const shown = `rbac.RoleRef{APIGroup:${goText(APIGroup)}, Kind:${goText(Kind)}, Name:${goText(Name)}}`;
  return [invalidShown('roleRef', shown, 'cannot change roleRef', { APIGroup, Kind, Name })];
}

const createdAt: Column = {
  name: 'Created At',
  type: 'date',
  description: 'When it was created.',
  cell: (role) => role.metadata.creationTimestamp ?? '',
};

const subjects = (name: string, kind: string): Column => ({
  name,
  wide: true,
  description: `${name} it holds for.`,
  cell: (binding) =>
    listAt(binding, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) =>
        kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}` : textAt(subject, 'name'),
      )
      .join(', '),
});

const bindingColumns: readonly Column[] = [
  nameColumn,
  {
    name: 'Role',
    description: 'Role that is granted.',
    cell: (binding) => `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`,
  },
  ageColumn,
  subjects('Users', 'User'),
  subjects('Groups', 'Group'),
  subjects('ServiceAccounts', 'ServiceAccount'),
];

const served: Kind['served'] = [{ group: RBAC, version: 'v1' }];

export const roles: Kind = {
  resource: 'roles',
  singular: 'role',
  kind: 'Role',
  served,
  namespaced: true,
  nameProblems: pathSegmentProblems,
  validate: (role) => ruleErrors(role, true),
  columns: [nameColumn, createdAt],
  schema: typed('Role', 'Rules for a namespace.'),
};

/** `aggregationRule` is stored only: no controller aggregates rules. */
export const clusterRoles: Kind = {
  resource: 'clusterroles',
  singular: 'clusterrole',
  kind: 'ClusterRole',
  served,
  namespaced: false,
  nameProblems: pathSegmentProblems,
  validate: (role) => ruleErrors(role, false),
  columns: [nameColumn, createdAt],
  schema: typed('ClusterRole', 'Rules for the whole cluster.'),
};

export const roleBindings: Kind = {
  resource: 'rolebindings',
  singular: 'rolebinding',
  kind: 'RoleBinding',
  served,
  namespaced: true,
  nameProblems: pathSegmentProblems,
  defaults: bindingDefaults,
  validate: (binding) => bindingErrors(binding, ['Role', 'ClusterRole']),
  validateUpdate: (now, old) => [...bindingErrors(now, ['Role', 'ClusterRole']), ...roleKept(now, old)],
  columns: bindingColumns,
  schema: typed('RoleBinding', 'Grants a role in a namespace.'),
};

export const clusterRoleBindings: Kind = {
  resource: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  kind: 'ClusterRoleBinding',
  served,
  namespaced: false,
  nameProblems: pathSegmentProblems,
  defaults: bindingDefaults,
  validate: (binding) => bindingErrors(binding, ['ClusterRole']),
  validateUpdate: (now, old) => [...bindingErrors(now, ['ClusterRole']), ...roleKept(now, old)],
  columns: bindingColumns,
  schema: typed('ClusterRoleBinding', 'Grants a role in the whole cluster.'),
};

/** Cluster roles that exist from the start, a few of a real server's. */
export const firstClusterRoles = [
  {
    metadata: { name: 'cluster-admin' },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  {
    metadata: { name: 'system:basic-user' },
    rules: [{ apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], verbs: ['create'] }],
  },
];

export const firstClusterRoleBindings = [
  { role: 'cluster-admin', group: 'system:masters' },
  { role: 'system:basic-user', group: 'system:authenticated' },
].map(({ role, group }) => ({
  metadata: { name: role },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'Group', name: group }],
}));
