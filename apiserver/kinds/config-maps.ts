import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { configMapKeyProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';
import { invalidValue, prohibited, tooLong } from '../errors.ts';
import { flag, object, ref, textMap } from '../openapi/schema.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Kind } from './kind.ts';

/** Sum of the values of a ConfigMap, in bytes. */
const MAX_BYTES = 1024 * 1024;

function bag(from: KubeObject, field: string): Record<string, unknown> {
  const value = from[field];
  return isJsonObject(value) ? value : {};
}

/** What decoded from base64 counts as, in bytes. */
function base64Bytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0;
}

/** With `immutable: true` neither the flag nor any value changes again. */
function validateImmutable(now: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = [];
  const why = 'field is immutable when `immutable` is set';
  if (now['immutable'] !== true) errors.push(prohibited('immutable', why));
  for (const field of fields) if (!jsonEqual(bag(now, field), bag(old, field))) errors.push(prohibited(field, why));
  return errors;
}

function validate(configMap: KubeObject): FieldError[] {
  const data = bag(configMap, 'data');
  const binary = bag(configMap, 'binaryData');
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    errors.push(...configMapKeyProblems(key).map((problem) => invalidValue(`data[${key}]`, key, problem)));
    if (Object.hasOwn(binary, key)) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    bytes += typeof value === 'string' ? Buffer.byteLength(value) : 0;
  }
  for (const [key, value] of Object.entries(binary)) {
    errors.push(...configMapKeyProblems(key).map((problem) => invalidValue(`binaryData[${key}]`, key, problem)));
    bytes += base64Bytes(value);
  }
  // The empty field name, and so a message that starts with a colon, is the real server's.
  if (bytes > MAX_BYTES) errors.push(tooLong('', MAX_BYTES));
  return errors;
}

export const configMaps: Kind = {
  resource: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['cm'],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate: (now, old) => [...validateImmutable(now, old, ['data', 'binaryData']), ...validate(now)],
  columns: [
    nameColumn,
    {
      name: 'Data',
      type: 'integer',
      description: 'Number of keys.',
      cell: (configMap) => Object.keys(bag(configMap, 'data')).length + Object.keys(bag(configMap, 'binaryData')).length,
    },
    ageColumn,
  ],
  schema: object('Configuration for pods and nodes to read.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    data: textMap('Texts by key.'),
    binaryData: textMap('Bytes by key, in base64.'),
    immutable: flag('Whether the data cannot be changed.'),
  }),
};
