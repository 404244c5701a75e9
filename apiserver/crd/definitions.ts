import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Kind, RuleContext } from '../kinds/kind.ts';
import { anything, object, ref } from '../openapi/schema.ts';
import { nameColumn } from '../kinds/column.ts';
import { describing } from './custom-schema.ts';
import { definitionErrors } from './definition-errors.ts';
import { nodeOf, nodesOf, textOf, textsOf } from './node.ts';
import type { Node } from './node.ts';

/** Where definitions lie in storage. */
export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

function defaults(definition: KubeObject): KubeObject {
  const spec = nodeOf(definition['spec']) ?? {};
  const names = nodeOf(spec['names']) ?? {};
  const kind = textOf(names['kind']);
  const named = kind === '' ? {} : { singular: kind.toLowerCase(), listKind: `${kind}List` };
  return { ...definition, spec: { ...spec, names: { ...named, ...names }, conversion: spec['conversion'] ?? { strategy: 'None' } } };
}

/** What the controllers of a real server find out by and by is true from the start here: the names, and what is established. */
export function withStatus(definition: KubeObject, { now, stored }: RuleContext): KubeObject {
  const filled = defaults(definition);
  const spec = nodeOf(filled['spec']) ?? {};
  const before = nodeOf(definition['status']) ?? {};
  const names = nodeOf(spec['names']) ?? {};
  const others = stored.list(DEFINITIONS).objects.filter((other) => other.metadata.uid !== definition.metadata.uid);
  const taken = takenName(names, textOf(spec['group']), others);
  const condition = (type: string, holds: boolean, reason: string, message: string): Node => {
    const status = holds ? 'True' : 'False';
    const last = nodesOf(before['conditions']).find((one) => one['type'] === type && one['status'] === status);
    return last ?? { type, status, lastTransitionTime: now, reason, message };
  };
  const conditions = [
    taken === undefined
      ? condition('NamesAccepted', true, 'NoConflicts', 'no conflicts found')
      : condition('NamesAccepted', false, taken.reason, `${JSON.stringify(taken.name)} is already in use`),
    taken === undefined
      ? condition('Established', true, 'InitialNamesAccepted', 'the initial names have been accepted')
      : condition('Established', false, 'NotAccepted', 'not all names are accepted'),
  ];
  if (definition.metadata.deletionTimestamp !== undefined) {
    conditions.push(condition('Terminating', true, 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'));
  }
  const storage = nodesOf(spec['versions']).find((version) => version['storage'] === true)?.['name'];
  const storedVersions = [...new Set([...textsOf(before['storedVersions']), ...(storage === undefined ? [] : [textOf(storage)])])];
  const acceptedNames = taken === undefined ? names : (before['acceptedNames'] ?? { plural: '', kind: '' });
  return { ...filled, status: { conditions, acceptedNames, storedVersions } };
}

function takenName(names: Node, group: string, others: readonly KubeObject[]): { name: string; reason: string } | undefined {
  const accepted = others
    .filter((other) => nodeOf(other['spec'])?.['group'] === group)
    .map((other) => nodeOf(nodeOf(other['status'])?.['acceptedNames']) ?? {});
  const resources = new Set(accepted.flatMap((one) => [textOf(one['plural']), textOf(one['singular']), ...textsOf(one['shortNames'])]));
  const kinds = new Set(accepted.flatMap((one) => [textOf(one['kind']), textOf(one['listKind'])]));
  const asked: [reason: string, name: string, taken: ReadonlySet<string>][] = [
    ['PluralConflict', textOf(names['plural']), resources],
    ['SingularConflict', textOf(names['singular']), resources],
    ...textsOf(names['shortNames']).map((name): [string, string, ReadonlySet<string>] => ['ShortNamesConflict', name, resources]),
    ['KindConflict', textOf(names['kind']), kinds],
    ['ListKindConflict', textOf(names['listKind']), kinds],
  ];
  // The last one that is found is what the real server tells.
  const found = asked.findLast(([, name, taken]) => name !== '' && taken.has(name));
  return found === undefined ? undefined : { reason: found[0], name: found[1] };
}

export const customResourceDefinitions: Kind = {
  resource: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  kind: 'CustomResourceDefinition',
  served: [{ group: 'apiextensions.k8s.io', version: 'v1' }],
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  hasStatus: true,
  hasGeneration: true,
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (definition, context) => {
    const { status: _status, ...rest } = definition;
    return withStatus({ ...rest, metadata: definition.metadata }, context);
  },
  prepareUpdate: (definition, _old, context) => (context.subresource === '' ? withStatus(definition, context) : definition),
  defaults,
  validate: definitionErrors,
  columns: [
    nameColumn,
    { name: 'Created At', type: 'date', description: 'When it was created.', cell: ({ metadata }) => metadata.creationTimestamp ?? '' },
  ],
  schema: describing(
    object('A kind that is added to the API while it runs.', {
      metadata: ref('ObjectMeta', 'Its name is that of the resource and its group.'),
      spec: anything('Group, names, scope and versions with their schemas.'),
      status: anything('Whether the names were free, and what is served.'),
    }),
  ),
};
