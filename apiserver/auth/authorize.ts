import { parseFieldSelector, SelectorError } from '../../kube/api/selector.ts';
import { changesConfigSource, referredConfigMap } from '../kinds/nodes.ts';
import { forbidden } from '../errors.ts';
import { nodeOf, type User } from './authenticate.ts';
import { fieldAt, listAt, textAt } from '../kinds/metadata-rules.ts';
import { groupResource, type ServedKind, type Stored } from '../kinds/kind.ts';
import type { ResourceRequest } from '../http/message.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/**
 * Members of system:masters may do everything; a node has the rights of the node authorizer; roles grant all other rights, as on a real server
 * with Node,RBAC.
 * @throws StatusError 403
 */
export function authorize(stored: Stored, user: User, request: ResourceRequest, query: URLSearchParams): void {
  const why = whyNot(stored, user, request, query);
  if (why === undefined) return;
  const { group, resource, subresource, verb, namespace, name } = request;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const reason = why === '' ? '' : `: ${why}`;
  throw forbidden(
    { group, resource },
    name,
    `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}${reason}`,
  );
}

/** @returns undefined: allowed; else the reason ('': no particular reason) */
export function whyNot(stored: Stored, user: User, request: ResourceRequest, query: URLSearchParams): string | undefined {
  if (user.groups.includes('system:masters')) return undefined;
  const node = nodeOf(user);
  const why = node === undefined ? '' : nodeMay(stored, node, request, query);
  if (why === undefined) return undefined;
  const { verb, group, resource, subresource, namespace } = request;
  const attributes = {
    verb,
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace,
    // A list with a field selector for one name counts as a request for that object.
    name: request.name || selectedName(query),
  };
  return allows(rulesOf(stored, user, namespace), attributes) ? undefined : why;
}

// Paths that every authenticated user may get: the cluster role system:discovery.
const discovery = /^\/(api|apis|healthz|livez|openapi|readyz|version)(\/|$)/;

/** Whether a user may access a non-resource path. */
export function isPathAllowed(stored: Stored, user: User, verb: string, path: string): boolean {
  if (user.groups.includes('system:masters') || (discovery.test(path) && verb === 'get')) return true;
  return allows(rulesOf(stored, user, ''), { verb, path });
}

/** Rules of the node authorizer. @returns undefined: allowed; else the reason ('': no particular reason) */
function nodeMay(stored: Stored, node: string, request: ResourceRequest, query: URLSearchParams): string | undefined {
  const { group, resource, subresource, verb, namespace } = request;
  const name = request.name || (isReading(verb) ? selectedName(query) : '');
  switch (`${group}/${resource}`) {
    case '/nodes':
      if (verb === 'create') return undefined;
      if (name !== node) return `node '${node}' can only ${verb} its own Node object`;
      if (isReading(verb)) return undefined;
      return ['update', 'patch'].includes(verb) && ['', 'status'].includes(subresource) ? undefined : '';
    case '/configmaps':
      if (!isReading(verb)) return '';
      return refersTo(stored, node, namespace, name) ? undefined : `no relationship found between node '${node}' and this object`;
    case '/events':
    case 'events.k8s.io/events':
      return ['create', 'update', 'patch'].includes(verb) ? undefined : '';
    case 'coordination.k8s.io/leases':
      if (namespace !== 'kube-node-lease') return `can only access leases in the "kube-node-lease" system namespace`;
      return verb === 'create' || name === node ? undefined : 'can only access node lease with the same name as the requesting node';
    case '/pods':
      return podsOf(stored, node, request, query);
    default:
      return '';
  }
}

function podsOf(
  stored: Stored,
  node: string,
  { verb, subresource, namespace, name }: ResourceRequest,
  query: URLSearchParams,
): string | undefined {
  if (verb === 'get') return undefined;
  if (isReading(verb)) return selected(query, 'spec.nodeName') === node ? undefined : `node '${node}' can only ${verb} its own pods`;
  const isStatus = subresource === 'status' && (verb === 'update' || verb === 'patch');
  if (!isStatus && verb !== 'delete') return '';
  const pod = stored.get('/pods', `${namespace}/${name}`);
  return pod === undefined || textAt(pod, 'spec', 'nodeName') === node ? undefined : `node '${node}' can only ${verb} its own pods`;
}

function refersTo(stored: Stored, node: string, namespace: string, name: string): boolean {
  const object = stored.get('/nodes', node);
  const referred = object === undefined ? undefined : referredConfigMap(object);
  return name !== '' && referred?.namespace === namespace && referred.name === name;
}

function isReading(verb: string): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch';
}

const selectedName = (query: URLSearchParams): string => selected(query, 'metadata.name');

function selected(query: URLSearchParams, field: string): string {
  try {
    const requirements = parseFieldSelector(query.get('fieldSelector') ?? '');
    return requirements.find((one) => one.field === field && one.operator === '=')?.value ?? '';
  } catch (error) {
    if (error instanceof SelectorError) return '';
    throw error;
  }
}

/**
 * A node may not extend its own read access: it cannot set its configSource. Clearing the source is allowed.
 * @param old - undefined for a create
 * @throws StatusError 403
 */
export function restrictNode(user: User, served: ServedKind, object: KubeObject, old: KubeObject | undefined): void {
  const node = nodeOf(user);
  if (node === undefined || served.kind.resource !== 'nodes') return;
  const of = groupResource(served);
  const name = object.metadata.name ?? '';
  if (old === undefined && name !== node)
    throw forbidden(of, name, `node ${JSON.stringify(node)} is not allowed to modify node ${JSON.stringify(name)}`);
  if (!changesConfigSource(object, old ?? { metadata: {} })) return;
  // The real server's message says `create pods`.
  const what = old === undefined ? 'create pods with a non-nil configSource' : 'update configSource to a new non-nil configSource';
  throw forbidden(of, name, `node ${JSON.stringify(node)} is not allowed to ${what}`);
}

/** An action on a resource. */
interface ResourceAttributes {
  verb: string;
  group: string;
  /** Resource with subresource: `pods/status`. */
  resource: string;
  /** '' for the whole cluster. */
  namespace: string;
  /** '' if the request is not for a single object. */
  name: string;
}

/** A request for a non-resource path: `/metrics`. */
interface NonResourceAttributes {
  verb: string;
  path: string;
}

/** A rule of a role, in `rbac.authorization.k8s.io/v1` form. */
type PolicyRule = unknown;

const RBAC = 'rbac.authorization.k8s.io';

/**
 * Every rule that applies to a user: cluster-wide bindings, and those of one namespace.
 * A binding to a missing role grants nothing.
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

/** Whether one of the rules allows the request. */
export function allows(rules: readonly PolicyRule[], attributes: ResourceAttributes | NonResourceAttributes): boolean {
  return rules.some((rule) => ('path' in attributes ? allowsPath(rule, attributes) : allowsResource(rule, attributes)));
}

function allowsResource(rule: PolicyRule, { verb, group, resource, name }: ResourceAttributes): boolean {
  const names = listAt(rule, 'resourceNames');
  return (
    has(rule, 'verbs', verb) &&
    has(rule, 'apiGroups', group) &&
    listAt(rule, 'resources').some((one) => one === '*' || one === resource || isAnysSubresource(one, resource)) &&
    (names.length === 0 || (name !== '' && names.includes(name)))
  );
}

// `*/SUBRESOURCE` matches this subresource of any resource.
function isAnysSubresource(one: unknown, resource: string): boolean {
  return typeof one === 'string' && one.startsWith('*/') && resource.includes('/') && resource.endsWith(one.slice(1));
}

function allowsPath(rule: PolicyRule, { verb, path }: NonResourceAttributes): boolean {
  const fits = (one: unknown) =>
    one === '*' || one === path || (typeof one === 'string' && one.endsWith('*') && path.startsWith(one.slice(0, -1)));
  return has(rule, 'verbs', verb) && listAt(rule, 'nonResourceURLs').some(fits);
}

function has(rule: PolicyRule, field: string, value: string): boolean {
  const values = listAt(rule, field);
  return values.includes('*') || values.includes(value);
}
