import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { configMapKeyProblems, dnsLabelProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';
import { invalidShown, invalidValue, prohibited, required } from '../errors.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

/*
 * Node.spec.configSource and Node.status.config, as API servers from 1.11 to 1.25 (gate on) and all later ones (gate off) treat them.
 */

/** Rules of both fields; they hold on updates only, a create is never looked at. */
export function validateConfigSources(node: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = fieldAt(node, 'spec', 'configSource');
  if (isSet(spec)) errors.push(...validateSource(spec, 'spec.configSource', 'spec'));
  for (const part of ['assigned', 'active', 'lastKnownGood']) {
    const source = fieldAt(node, 'status', 'config', part);
    if (isSet(source)) errors.push(...validateSource(source, `status.config.${part}`, 'status'));
  }
  return errors;
}

/** With the gate off a new Node loses both fields, without a word. */
export function dropOnCreate(node: KubeObject): KubeObject {
  return without(without(node, 'spec', 'configSource'), 'status', 'config');
}

/** With the gate off a field survives an update only where the old Node has it. */
export function dropOnUpdate(node: KubeObject, old: KubeObject): KubeObject {
  const spec = isSet(fieldAt(old, 'spec', 'configSource')) ? node : without(node, 'spec', 'configSource');
  return isSet(fieldAt(old, 'status', 'config')) ? spec : without(spec, 'status', 'config');
}

/** Whether the update points a node to another ConfigMap than before; clearing it is no such change. */
export function changesConfigSource(node: KubeObject, old: KubeObject): boolean {
  const now = fieldAt(node, 'spec', 'configSource');
  return isSet(now) && !jsonEqual(now, fieldAt(old, 'spec', 'configSource'));
}

/** The ConfigMap a Node refers to; undefined when it refers to none. */
export function referredConfigMap(node: KubeObject): { namespace: string; name: string } | undefined {
  const configMap = fieldAt(node, 'spec', 'configSource', 'configMap');
  if (!isSet(configMap)) return undefined;
  return { namespace: textAt(configMap, 'namespace'), name: textAt(configMap, 'name') };
}

function validateSource(source: unknown, path: string, place: 'spec' | 'status'): FieldError[] {
  const configMap = fieldAt(source, 'configMap');
  if (!isSet(configMap)) {
    const shown = 'core.NodeConfigSource{ConfigMap:(*core.ConfigMapNodeConfigSource)(nil)}';
    return [invalidShown(path, shown, 'exactly one reference subfield must be non-nil')];
  }
  const at = `${path}.configMap`;
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    const value = textAt(configMap, field);
    if (place === 'spec' && value !== '') errors.push(prohibited(`${at}.${field}`, `${field} must not be set in spec`));
    if (place === 'status' && value === '') errors.push(required(`${at}.${field}`, `${field} must be set in status`));
  }
  for (const [field, problems] of rules) {
    const value = textAt(configMap, field);
    if (value === '') errors.push(required(`${at}.${field}`, `${field} must be set`));
    else errors.push(...problems(value).map((problem) => invalidValue(`${at}.${field}`, value, problem)));
  }
  return errors;
}

const rules = [
  ['namespace', dnsLabelProblems],
  ['name', dnsSubdomainProblems],
  ['kubeletConfigKey', configMapKeyProblems],
] as const;

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function without(node: KubeObject, part: string, field: string): KubeObject {
  const inner = node[part];
  if (!isJsonObject(inner) || !Object.hasOwn(inner, field)) return node;
  const { [field]: _dropped, ...rest } = inner;
  return { ...node, [part]: rest };
}
