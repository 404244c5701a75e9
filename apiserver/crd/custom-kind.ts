import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { age, ageColumn, allVerbs, type Column, type Kind, nameColumn, type ServedKind } from '../kinds/kind.ts';
import {
  customSchema,
  EMBEDDED,
  fieldNode,
  type Node,
  nodeOf,
  nodesOf,
  numberOf,
  PRESERVES,
  propertiesOf,
  textOf,
  textsOf,
} from './custom-schema.ts';
import { valueErrors } from './value-errors.ts';
import { isJsonObject, type JsonObject, ownField, setField } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** The kind that a definition defines, in each version it is served in, the preferred one first. Empty while its names are not accepted. */
export function customKinds(definition: KubeObject): ServedKind[] {
  const spec = nodeOf(definition['spec']) ?? {};
  const accepted = nodesOf(nodeOf(definition['status'])?.['conditions']).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  if (!accepted) return [];
  const verbs = definition.metadata.deletionTimestamp === undefined ? allVerbs : allVerbs.filter((verb) => verb !== 'create');
  return nodesOf(spec['versions'])
    .filter(({ served }) => served === true)
    .toSorted((a, b) => byVersion(textOf(a['name']), textOf(b['name'])))
    .map((version) => customKind(spec, version, verbs));
}

function customKind(spec: Node, version: Node, verbs: typeof allVerbs): ServedKind {
  const names = nodeOf(spec['names']) ?? {};
  const root = nodeOf(nodeOf(version['schema'])?.['openAPIV3Schema']) ?? {};
  const whole = (object: KubeObject): KubeObject => {
    const { metadata, ...rest } = object;
    const kept = nodeOf(prunedAndDefaulted({ ...rest, metadata }, root, true)) ?? {};
    return { ...kept, metadata };
  };
  const at = {
    group: textOf(spec['group']),
    version: textOf(version['name']),
    toStored: whole,
    // Defaults are also applied on read: a default that was added later appears in older objects.
    ...(hasDefault(root) ? { fromStored: whole } : {}),
  };
  const [shortNames, categories] = [textsOf(names['shortNames']), textsOf(names['categories'])];
  const kind: Kind = {
    resource: textOf(names['plural']),
    singular: textOf(names['singular']),
    kind: textOf(names['kind']),
    served: [at],
    namespaced: spec['scope'] === 'Namespaced',
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    nameProblems: dnsSubdomainProblems,
    hasStatus: nodeOf(nodeOf(version['subresources'])?.['status']) !== undefined,
    hasGeneration: true,
    needsVersion: true,
    validate: (object) => valueErrors(object, root, ''),
    columns: customColumns(version['additionalPrinterColumns']),
    schema: customSchema(root),
  };
  return { kind, at };
}

function hasDefault(node: Node): boolean {
  if (Object.hasOwn(node, 'default')) return true;
  const inner = [...Object.values(nodeOf(node['properties']) ?? {}), node['items'], node['additionalProperties']];
  return inner.some((one) => {
    const child = nodeOf(one);
    return child !== undefined && hasDefault(child);
  });
}

/** v2 before v1 before v1beta1 before v1alpha1 before anything else, as group discovery orders them. */
export function byVersion(a: string, b: string): number {
  const rank = (name: string): [number, number, number] => {
    const [, major, stage, minor] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(name) ?? [];
    if (major === undefined) return [0, 0, 0];
    return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
  };
  const [left, right] = [rank(a), rank(b)];
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return (right[at] ?? 0) - (left[at] ?? 0);
  return a < b ? -1 : a > b ? 1 : 0;
}

const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * `value` as the server stores it: without unknown fields, without nulls that the schema does not allow, and with its defaults.
 * @param isRoot - root or embedded resource: `apiVersion`, `kind` and `metadata` are known fields even if the schema omits them
 */
function prunedAndDefaulted(value: unknown, node: Node, isRoot: boolean): unknown {
  if (Array.isArray(value)) {
    const items = nodeOf(node['items']);
    return items === undefined ? value : value.map((item: unknown) => prunedAndDefaulted(item, items, items[EMBEDDED] === true));
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  const takesAll = node[PRESERVES] === true || node['additionalProperties'] === true;
  for (const [name, field] of Object.entries(value)) {
    const child = fieldNode(node, name);
    if (isRoot && typeFields.has(name)) setField(kept, name, field);
    else if (child === undefined) {
      if (takesAll) setField(kept, name, field);
    } else if (field !== null || child['nullable'] === true)
      setField(kept, name, prunedAndDefaulted(field, child, child[EMBEDDED] === true));
  }
  for (const [name, child] of propertiesOf(node)) {
    if (!Object.hasOwn(child, 'default') || Object.hasOwn(kept, name)) continue;
    setField(kept, name, prunedAndDefaulted(structuredClone(child['default']), child, child[EMBEDDED] === true));
  }
  return kept;
}

/** The columns of `kubectl get`: the name, and the columns of the definition, or else the age. */
function customColumns(written: unknown): Column[] {
  const columns = nodesOf(written).map(column);
  return [nameColumn, ...(columns.length === 0 ? [ageColumn] : columns)];
}

function column(written: Node): Column {
  const path = textOf(written['jsonPath']);
  const type = textOf(written['type']);
  return {
    name: textOf(written['name']),
    type: type === 'integer' || type === 'date' ? type : 'string',
    format: textOf(written['format']),
    description: textOf(written['description']) || `Custom resource definition column (in JSONPath format): ${path}`,
    wide: (numberOf(written['priority']) ?? 0) > 0,
    cell(object, now) {
      const [found] = valuesAt(object, path);
      if (found === undefined || found === null) return '';
      if (type === 'date') return age(textOf(found), now);
      if (type === 'integer' || type === 'number') return typeof found === 'number' ? found : '';
      return typeof found === 'string' ? found : JSON.stringify(found);
    },
  };
}

type Step = { field: string } | { index: number } | { all: true } | { where: string[]; equals: string };

const step =
  /^(?:\.([A-Za-z0-9_\-/]+(?:\\\.[A-Za-z0-9_\-/]+)*)|\['([^']+)'\]|\[(-?\d+)\]|(?:\.|\[)\*\]?|\[\?\(@\.([^=\s]+)\s*==\s*(?:"([^"]*)"|'([^']*)')\)\])/;

/** Whether this is a path that {@link valuesAt} can follow: fields, indices, `[*]`, and `[?(@.a=="b")]`. */
export function isJsonPath(path: string): boolean {
  return stepsOf(path) !== undefined;
}

/** The values at a simple JSON path; empty if there are none. */
function valuesAt(value: unknown, path: string): unknown[] {
  return (stepsOf(path) ?? [undefined]).reduce<unknown[]>(
    (found, at) => (at === undefined ? [] : found.flatMap((one) => follow(one, at))),
    [value],
  );
}

function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = path; rest !== '';) {
    const match = step.exec(rest);
    if (match === null) return undefined;
    const [text, field, quoted, index, where, double, single] = match;
    if (field !== undefined) steps.push({ field: field.replaceAll('\\.', '.') });
    else if (quoted !== undefined) steps.push({ field: quoted.replaceAll('\\.', '.') });
    else if (index !== undefined) steps.push({ index: Number(index) });
    else if (where !== undefined) steps.push({ where: where.split('.'), equals: double ?? single ?? '' });
    else steps.push({ all: true });
    rest = rest.slice(text.length);
  }
  return steps;
}

function follow(value: unknown, at: Step): unknown[] {
  if ('field' in at) return isJsonObject(value) && Object.hasOwn(value, at.field) ? [ownField(value, at.field)] : [];
  if ('all' in at) return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  if (!Array.isArray(value)) return [];
  if ('index' in at) return at.index < value.length ? [value.at(at.index)] : [];
  const found = (item: unknown) =>
    at.where.reduce<unknown>((from, field) => (isJsonObject(from) ? ownField(from, field) : undefined), item);
  return value.filter((item) => found(item) === at.equals);
}
