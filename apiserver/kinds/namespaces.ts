import { isJsonObject } from '../../kube/api/json.ts';
import { dnsLabelProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { anything, list, object, ref, text } from '../openapi/schema.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext } from './kind.ts';
import { textAt } from './metadata-rules.ts';

/** Namespaces that exist from the start, as on a real server; `dkc-system` is dkc's. */
export const firstNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'dkc-system'] as const;

/** Namespaces that cannot be deleted. */
export const keptNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

function create(namespace: KubeObject): KubeObject {
  const spec = isJsonObject(namespace['spec']) ? namespace['spec'] : {};
  return { ...namespace, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** From 1.21 on every namespace has its name as a label, so that selectors can name it. */
function defaults(namespace: KubeObject, { release }: RuleContext): KubeObject {
  const { name = '', labels } = namespace.metadata;
  if (release < 21 || name === '') return namespace;
  return { ...namespace, metadata: { ...namespace.metadata, labels: { ...labels, [NAME_LABEL]: name } } };
}

export const namespaces: Kind = {
  resource: 'namespaces',
  singular: 'namespace',
  kind: 'Namespace',
  served: [{ group: '', version: 'v1' }],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['ns'],
  hasStatus: true,
  returnsDeleted: true,
  nameProblems: dnsLabelProblems,
  defaults,
  prepareCreate: create,
  prepareUpdate: (namespace, old) => ({ ...namespace, spec: old['spec'] }),
  selectable: { 'status.phase': (namespace) => textAt(namespace, 'status', 'phase') },
  columns: [
    nameColumn,
    {
      name: 'Status',
      description: 'Active, or Terminating while its content is deleted.',
      cell: (namespace) => textAt(namespace, 'status', 'phase'),
    },
    ageColumn,
  ],
  schema: object('Scope for the names of objects.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    spec: object('Specification of the namespace.', {
      finalizers: list('Finalizers that must be removed before the object is deleted.', text('A finalizer.')),
    }),
    status: object('Status of the namespace.', {
      phase: text('Active or Terminating.'),
      conditions: list('Observed conditions.', anything('A condition.'), { by: 'type' }),
    }),
  }),
};
