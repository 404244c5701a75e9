import { jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, invalidValue, notSupported, prohibited, required } from '../field-error.ts';
import { isJsonPath } from './json-path.ts';
import { nodeOf, nodesOf, textOf } from './node.ts';
import type { Node } from './node.ts';
import { structuralErrors } from './structural.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

/** What is wrong with a CustomResourceDefinition, in the words of a 1.20 server. */
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
  // A schema or columns that all versions share are told of where older definitions had them.
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
