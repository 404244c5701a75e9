import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { anything, object, ref } from '../openapi/schema.ts';
import { type Kind, nameColumn, type RuleContext, storageName } from '../kinds/kind.ts';
import { describing, type Node, nodeOf, nodesOf, textOf, textsOf } from './custom-schema.ts';
import { definitionErrors } from './definition-errors.ts';
import { commitUpdate } from '../handlers/write.ts';
import { type Context, rules } from '../handlers/context.ts';
import { CLEANUP, deleteObject } from '../handlers/delete.ts';
import { customKinds } from './custom-kind.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Change } from '../storage/watch-log.ts';

/** Storage name of definitions. */
const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

function defaults(definition: KubeObject): KubeObject {
  const spec = nodeOf(definition['spec']) ?? {};
  const names = nodeOf(spec['names']) ?? {};
  const kind = textOf(names['kind']);
  const named = kind === '' ? {} : { singular: kind.toLowerCase(), listKind: `${kind}List` };
  return { ...definition, spec: { ...spec, names: { ...named, ...names }, conversion: spec['conversion'] ?? { strategy: 'None' } } };
}

/** Sets the status at once that controllers of a real server set over time: accepted names, NamesAccepted and Established. */
export function withStatus(definition: KubeObject, { now, stored }: RuleContext): KubeObject {
  const filled = defaults(definition);
  const spec = nodeOf(filled['spec']) ?? {};
  const before = nodeOf(definition['status']) ?? {};
  const names = nodeOf(spec['names']) ?? {};
  const others = stored.list(DEFINITIONS).objects.filter((other) => other.metadata.uid !== definition.metadata.uid);
  const taken = nameConflict(names, textOf(spec['group']), others);
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

function nameConflict(names: Node, group: string, others: readonly KubeObject[]): { name: string; reason: string } | undefined {
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
  // The real server reports the last conflict.
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
    object('Adds a kind to the API.', {
      metadata: ref('ObjectMeta', 'Its name is that of the resource and its group.'),
      spec: anything('Group, names, scope and versions with their schemas.'),
      status: anything('Whether the names were free, and what is served.'),
    }),
  ),
};

/**
 * Serves the kinds of definitions; a changed definition takes effect in the same turn of the event loop. When a definition is deleted, its objects are
 * deleted in later turns, and the definition is removed after the last of them.
 */
export class LiveKinds {
  readonly #context: Context;
  /** Storage names of kinds, by the key of their definition. */
  readonly #kinds = new Map<string, string>();
  /** Terminating definitions, by the storage name of their kind. */
  readonly #terminating = new Map<string, string>();
  readonly #pending = new Set<string>();
  #waiters: (() => void)[] = [];

  constructor(context: Context) {
    this.#context = context;
    context.storage.onChange((kind, change) => {
      if (kind === DEFINITIONS) this.#serve(change);
      else if (change.type === 'DELETED' && this.#terminating.has(kind)) this.#schedule(kind);
    });
  }

  /** Resolves once no objects are left to delete. */
  settled(): Promise<void> {
    return this.#pending.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  #serve({ type, key, object }: Change): void {
    const { registry } = this.#context;
    const served = type === 'DELETED' ? [] : customKinds(object);
    const [first] = served;
    const before = this.#kinds.get(key);
    if (first === undefined) {
      if (before !== undefined) registry.remove(before);
      this.#kinds.delete(key);
      if (before !== undefined) this.#terminating.delete(before);
      // Without a kind there is nothing to clean up.
      if (type !== 'DELETED' && object.metadata.deletionTimestamp !== undefined) this.#schedule('', key);
      return;
    }
    const name = storageName(first.kind);
    registry.put(first.kind, served);
    this.#kinds.set(key, name);
    if (object.metadata.deletionTimestamp === undefined) return;
    this.#terminating.set(name, key);
    this.#schedule(name);
  }

  #schedule(name: string, key = this.#terminating.get(name)): void {
    if (key === undefined || this.#pending.has(key)) return;
    this.#pending.add(key);
    setImmediate(() => {
      this.#pending.delete(key);
      this.#cleanUp(name, key);
      if (this.#pending.size > 0) return;
      for (const done of this.#waiters.splice(0)) done();
    });
  }

  #cleanUp(name: string, key: string): void {
    const { storage, registry } = this.#context;
    const served = registry.stored(name);
    for (const { metadata } of served === undefined ? [] : storage.list(name).objects) {
      if (served === undefined || metadata.deletionTimestamp !== undefined) continue;
      deleteObject(this.#context, served, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, { dryRun: false });
    }
    const definition = storage.get(DEFINITIONS, key);
    const definitions = registry.stored(DEFINITIONS);
    if (definition === undefined || definitions === undefined) return;
    if (storage.list(name).objects.length > 0) {
      // Updates the status with the reason; a write that changes nothing is not stored.
      commitUpdate(this.#context, definitions, key, withStatus(definition, rules(this.#context, '')), definition, false);
      return;
    }
    const { finalizers = [], ...rest } = definition.metadata;
    const left = finalizers.filter((one) => one !== CLEANUP);
    const metadata = left.length === 0 ? rest : { ...rest, finalizers: left };
    commitUpdate(this.#context, definitions, key, { ...definition, metadata }, definition, false);
  }
}
