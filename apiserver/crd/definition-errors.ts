import { jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { invalidShown, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { isJsonPath } from './custom-kind.ts';
import {
  nodeOf,
  nodesOf,
  textOf,
  EMBEDDED,
  INT_OR_STRING,
  LIST_KEYS,
  LIST_TYPE,
  PRESERVES,
  propertiesOf,
  textsOf,
} from './custom-schema.ts';
import type { Node } from './custom-schema.ts';
import { expression, valueErrors } from './value-errors.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

/** Validation errors of a CustomResourceDefinition, with the messages of a 1.20 server. */
export function definitionErrors(definition: KubeObject): FieldError[] {
  const spec = nodeOf(definition['spec']) ?? {};
  const names = nodeOf(spec['names']) ?? {};
  const group = textOf(spec['group']);
  const errors: FieldError[] = [];
  const { name = '', annotations = {} } = definition.metadata;
  if (name !== `${textOf(names['plural'])}.${group}`) {
    errors.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group) && !annotations['api-approved.kubernetes.io']) {
    const why =
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';
    errors.push(required('metadata.annotations[api-approved.kubernetes.io]', why));
  }
  if (group === '') errors.push(required('spec.group', ''));
  else {
    errors.push(...dnsSubdomainProblems(group).map((problem) => invalidValue('spec.group', group, problem)));
    if (dnsSubdomainProblems(group).length === 0 && !group.includes('.'))
      errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const scope = textOf(spec['scope']);
  if (scope === '') errors.push(required('spec.scope', ''));
  else if (!['Cluster', 'Namespaced'].includes(scope)) errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  return [...errors, ...versionsErrors(spec), ...nameErrors(names), ...conversionErrors(spec)];
}

function versionsErrors(spec: Node): FieldError[] {
  const versions = nodesOf(spec['versions']);
  const errors: FieldError[] = [];
  // Errors of a schema or of columns that all versions share name the path of v1beta1, as the real server does.
  const shared = (field: string): boolean => versions.every((version) => jsonEqual(version[field], versions[0]?.[field]));
  const isShared = shared('schema');
  const sharesColumns = shared('additionalPrinterColumns');
  versions.forEach((version, at) => {
    const path = `spec.versions[${at}]`;
    const name = textOf(version['name']);
    errors.push(...labelProblems(name).map((problem) => invalidValue(`${path}.name`, name, problem)));
    const root = nodeOf(nodeOf(version['schema'])?.['openAPIV3Schema']);
    const hasStatus = nodeOf(nodeOf(version['subresources'])?.['status']) !== undefined;
    if (root === undefined) errors.push(required(`${path}.schema.openAPIV3Schema`, 'schemas are required'));
    else if (!isShared) errors.push(...structuralErrors(root, `${path}.schema.openAPIV3Schema`, hasStatus));
    else if (at === 0) errors.push(...structuralErrors(root, 'spec.validation.openAPIV3Schema', hasStatus));
    if (!sharesColumns || at === 0) errors.push(...columnErrors(version, sharesColumns ? 'spec' : path));
  });
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    const shown = versions.map((version) => `${textOf(version['name'])} storage:${String(version['storage'] === true)}`).join(', ');
    errors.push(invalidShown('spec.versions', `[${shown}]`, 'must have exactly one version marked as storage version'));
  }
  if (!versions.some(({ storage }) => storage === true)) {
    errors.push(invalidShown('status.storedVersions', '[]string(nil)', 'must have at least one stored version'));
  }
  const seen = new Set<string>();
  versions.forEach((version, at) => {
    const name = textOf(version['name']);
    if (seen.has(name)) errors.push(invalidValue(`spec.versions[${at}].name`, name, 'must be unique'));
    seen.add(name);
  });
  return errors;
}

function columnErrors(version: Node, path: string): FieldError[] {
  return nodesOf(version['additionalPrinterColumns']).flatMap((column, at) => {
    const errors: FieldError[] = [];
    const where = `${path}.additionalPrinterColumns[${at}]`;
    const [name, type, jsonPath] = [textOf(column['name']), textOf(column['type']), textOf(column['jsonPath'])];
    if (name === '') errors.push(required(`${where}.name`, ''));
    if (type === '') errors.push(required(`${where}.type`, `must be one of ${columnTypes.join(',')}`));
    else if (!columnTypes.includes(type)) errors.push(invalidValue(`${where}.type`, type, `must be one of ${columnTypes.join(',')}`));
    if (jsonPath === '') errors.push(required(`${where}.JSONPath`, ''));
    else if (!jsonPath.startsWith('.') || !isJsonPath(jsonPath)) {
      errors.push(invalidValue(`${where}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
    }
    return errors;
  });
}

function nameErrors(names: Node): FieldError[] {
  return ['plural', 'singular', 'kind', 'listKind'].flatMap((field) => {
    const name = textOf(names[field]);
    const path = `spec.names.${field}`;
    if (name === '') return [required(path, '')];
    const problems = labelProblems(name.toLowerCase() === name || field.toLowerCase().includes('kind') ? name.toLowerCase() : name);
    return problems.map((problem) => invalidValue(path, name, problem));
  });
}

function conversionErrors(spec: Node): FieldError[] {
  const strategy = textOf(nodeOf(spec['conversion'])?.['strategy']);
  if (strategy === '' || strategy === 'None') return [];
  if (strategy !== 'Webhook') return [notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])];
  return [prohibited('spec.conversion.strategy', 'conversion by webhook is not served here')];
}

function labelProblems(name: string): string[] {
  if (name.length <= 63 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return [];
  return [
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
  ];
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const branches = ['allOf', 'anyOf', 'oneOf'] as const;
// Fields that alternatives must not have.
const treeOnly = ['type', 'additionalProperties', 'default', 'description', 'title', 'nullable'] as const;

/** Why a schema is not structural, with the messages of a 1.20 server. */
function structuralErrors(root: Node, path: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const type = textOf(root['type']);
  if (type !== '' && type !== 'object') {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    if (hasStatus) errors.push(invalidValue(`${path}.type`, type, why));
    errors.push(invalidValue(`${path}.type`, type, 'must be object at the root'));
    return errors;
  }
  if (type === '') errors.push(required(`${path}.type`, 'must not be empty at the root'));
  const metadata = nodeOf(nodeOf(root['properties'])?.['metadata']);
  const beyond = propertiesOf(metadata ?? {}).some(([name]) => name !== 'name' && name !== 'generateName');
  if (beyond) {
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(prohibited(`${path}.properties[metadata]`, why));
  }
  return [...errors, ...nodeErrors({ ...root, type: 'object' }, path)];
}

function nodeErrors(node: Node, path: string): FieldError[] {
  const errors = [...plainErrors(node, path), ...listErrors(node, path)];
  if (node['additionalProperties'] !== undefined && propertiesOf(node).length > 0) {
    errors.push(prohibited(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  for (const name of branches) {
    nodesOf(node[name]).forEach((branch, at) => errors.push(...branchErrors(branch, `${path}.${name}[${at}]`)));
  }
  const not = nodeOf(node['not']);
  if (not !== undefined) errors.push(...branchErrors(not, `${path}.not`));
  for (const [name, child] of propertiesOf(node)) errors.push(...nodeErrors(child, `${path}.properties[${name}]`));
  const [values, items] = [nodeOf(node['additionalProperties']), nodeOf(node['items'])];
  if (values !== undefined) errors.push(...nodeErrors(values, `${path}.additionalProperties`));
  if (items !== undefined) errors.push(...nodeErrors(items, `${path}.items`));
  return errors;
}

function plainErrors(node: Node, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = textOf(node['type']);
  const either = node[INT_OR_STRING] === true;
  if (type === '' && !either && node[PRESERVES] !== true) errors.push(required(`${path}.type`, whereEmpty(path)));
  if (type !== '' && either) errors.push(invalidValue(`${path}.type`, type, `must be empty if ${INT_OR_STRING} is true`));
  if (type !== '' && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types));
  if (node['$ref'] !== undefined) errors.push(prohibited(`${path}.$ref`, '$ref is not supported'));
  if (node['uniqueItems'] === true) {
    errors.push(prohibited(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  }
  const pattern = textOf(node['pattern']);
  if (pattern !== '' && expression(pattern) === undefined) {
    errors.push(invalidValue(`${path}.pattern`, pattern, 'must be a valid regular expression, but is not'));
  }
  if (node[PRESERVES] === false) errors.push(invalidValue(`${path}.${PRESERVES}`, false, 'must be true or undefined'));
  if (node[EMBEDDED] === true && type !== 'object')
    errors.push(invalidValue(`${path}.type`, type, `must be object if ${EMBEDDED} is true`));
  if (Object.hasOwn(node, 'default')) {
    const wrong = valueErrors(node['default'], node, '');
    errors.push(...wrong.map((error) => ({ ...error, field: `${path}.default${error.field === '' ? '' : `.${error.field}`}` })));
  }
  return errors;
}

function whereEmpty(path: string): string {
  if (path.endsWith('.items')) return 'must not be empty for specified array items';
  return 'must not be empty for specified object fields';
}

function listErrors(node: Node, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const listType = node[LIST_TYPE];
  const items = nodeOf(node['items']);
  if (node['type'] === 'array' && items === undefined) errors.push(required(`${path}.items`, 'must be specified'));
  if (listType === undefined) return errors;
  if (!['atomic', 'set', 'map'].includes(textOf(listType))) {
    errors.push(notSupported(`${path}.${LIST_TYPE}`, listType, ['atomic', 'set', 'map']));
  }
  const keys = textsOf(node[LIST_KEYS]);
  if (listType === 'map' && keys.length === 0)
    errors.push(required(`${path}.${LIST_KEYS}`, 'must not be empty if x-kubernetes-list-type is map'));
  const known = new Set(propertiesOf(items ?? {}).map(([name]) => name));
  keys.forEach((key, at) => {
    if (!known.has(key)) errors.push(invalidValue(`${path}.${LIST_KEYS}[${at}]`, key, 'entries must all be names of item properties'));
  });
  return errors;
}

/** Alternatives (oneOf, anyOf, allOf, not) must not define types, defaults or extensions. */
function branchErrors(node: Node, path: string): FieldError[] {
  const errors = treeOnly
    .filter((field) => node[field] !== undefined && node[field] !== '')
    .map((field) => prohibited(`${path}.${field}`, 'must be empty to be structural'));
  for (const [name, child] of propertiesOf(node)) errors.push(...branchErrors(child, `${path}.properties[${name}]`));
  const items = nodeOf(node['items']);
  if (items !== undefined) errors.push(...branchErrors(items, `${path}.items`));
  return errors;
}
