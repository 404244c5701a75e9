import type { FieldError } from '../field-error.ts';
import { invalidValue, notSupported, prohibited, required } from '../field-error.ts';
import { EMBEDDED, INT_OR_STRING, LIST_KEYS, LIST_TYPE, nodeOf, nodesOf, PRESERVES, propertiesOf, textOf, textsOf } from './node.ts';
import type { Node } from './node.ts';
import { expression, valueErrors } from './value-errors.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const branches = ['allOf', 'anyOf', 'oneOf'] as const;
// What only the tree itself may say, not its alternatives.
const treeOnly = ['type', 'additionalProperties', 'default', 'description', 'title', 'nullable'] as const;

/** What keeps a schema from being structural, in the words of a 1.20 server. */
export function structuralErrors(root: Node, path: string, hasStatus: boolean): FieldError[] {
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

/** An alternative says nothing that would make the tree another one. */
function branchErrors(node: Node, path: string): FieldError[] {
  const errors = treeOnly
    .filter((field) => node[field] !== undefined && node[field] !== '')
    .map((field) => prohibited(`${path}.${field}`, 'must be empty to be structural'));
  for (const [name, child] of propertiesOf(node)) errors.push(...branchErrors(child, `${path}.properties[${name}]`));
  const items = nodeOf(node['items']);
  if (items !== undefined) errors.push(...branchErrors(items, `${path}.items`));
  return errors;
}
