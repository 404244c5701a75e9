import type { Stored } from '../kinds/kind.ts';
import { fieldAt, listAt, textAt } from '../kinds/metadata-rules.ts';
import type { User } from './authenticate.ts';

/** An action on a resource. */
export interface ResourceWish {
  verb: string;
  group: string;
  /** With its subresource: `pods/status`. */
  resource: string;
  /** '' for the whole cluster. */
  namespace: string;
  /** '' where no single object is meant. */
  name: string;
}

/** A request that is about no object: `/metrics`. */
export interface PathWish {
  verb: string;
  path: string;
}

/** A rule of a role, in `rbac.authorization.k8s.io/v1` form. */
export type PolicyRule = unknown;

const RBAC = 'rbac.authorization.k8s.io';

/**
 * Every rule that applies to a user: cluster-wide bindings, and those of one namespace.
 * A binding to a role that is not there gives nothing.
 */
export function rulesOf(stored: Stored, user: User, namespace: string): PolicyRule[] {
  const role = (ref: unknown, home: string) =>
    textAt(ref, 'kind') === 'ClusterRole'
      ? stored.get(`${RBAC}/clusterroles`, textAt(ref, 'name'))
      : stored.get(`${RBAC}/roles`, `${home}/${textAt(ref, 'name')}`);
  const everywhere = stored.list(`${RBAC}/clusterrolebindings`).objects.map((binding) => ({ binding, home: '' }));
  const here = stored
    .list(`${RBAC}/rolebindings`)
    .objects.filter((binding) => namespace !== '' && binding.metadata.namespace === namespace)
    .map((binding) => ({ binding, home: namespace }));
  return [...everywhere, ...here]
    .filter(({ binding, home }) => listAt(binding, 'subjects').some((subject) => isSubject(subject, user, home)))
    .flatMap(({ binding, home }) => listAt(role(fieldAt(binding, 'roleRef'), home), 'rules'));
}

function isSubject(subject: unknown, user: User, home: string): boolean {
  const name = textAt(subject, 'name');
  switch (textAt(subject, 'kind')) {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${textAt(subject, 'namespace') || home}:${name}`;
    default:
      return false;
  }
}

/** Whether one of the rules allows it. */
export function allows(rules: readonly PolicyRule[], wish: ResourceWish | PathWish): boolean {
  return rules.some((rule) => ('path' in wish ? allowsPath(rule, wish) : allowsResource(rule, wish)));
}

function allowsResource(rule: PolicyRule, { verb, group, resource, name }: ResourceWish): boolean {
  const names = listAt(rule, 'resourceNames');
  return (
    has(rule, 'verbs', verb) &&
    has(rule, 'apiGroups', group) &&
    listAt(rule, 'resources').some((one) => one === '*' || one === resource || isAnysSubresource(one, resource)) &&
    (names.length === 0 || (name !== '' && names.includes(name)))
  );
}

// A star for the resource, and then the subresource of any.
function isAnysSubresource(one: unknown, resource: string): boolean {
  return typeof one === 'string' && one.startsWith('*/') && resource.includes('/') && resource.endsWith(one.slice(1));
}

function allowsPath(rule: PolicyRule, { verb, path }: PathWish): boolean {
  const fits = (one: unknown) =>
    one === '*' || one === path || (typeof one === 'string' && one.endsWith('*') && path.startsWith(one.slice(0, -1)));
  return has(rule, 'verbs', verb) && listAt(rule, 'nonResourceURLs').some(fits);
}

function has(rule: PolicyRule, field: string, value: string): boolean {
  const values = listAt(rule, field);
  return values.includes('*') || values.includes(value);
}
