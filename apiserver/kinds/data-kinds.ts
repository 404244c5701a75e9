import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { configMapKeyProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidShown, invalidValue, prohibited, required, tooLong } from '../errors.ts';
import { flag, int32, object, ref, text, textMap, time } from '../openapi/schema.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { notNegative } from './number-rules.ts';
import { typed } from './types/typed.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

/* Kinds that only store data, without a status: ConfigMaps, ControllerRevisions, Leases. */

/** Maximum sum of the values of a ConfigMap, in bytes. */
const MAX_BYTES = 1024 * 1024;

function bag(from: KubeObject, field: string): Record<string, unknown> {
  const value = from[field];
  return isJsonObject(value) ? value : {};
}

/** Decoded size of a base64 value, in bytes. */
function base64Bytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0;
}

/** With `immutable: true` neither the flag nor any value can change. */
function validateImmutable(now: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = [];
  const why = 'field is immutable when `immutable` is set';
  if (now['immutable'] !== true) errors.push(prohibited('immutable', why));
  for (const field of fields) if (!jsonEqual(bag(now, field), bag(old, field))) errors.push(prohibited(field, why));
  return errors;
}

function validateConfigMap(configMap: KubeObject): FieldError[] {
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
  // As on a real server the field name is empty, so the message starts with a colon.
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
  validate: validateConfigMap,
  validateUpdate: (now, old) => [...validateImmutable(now, old, ['data', 'binaryData']), ...validateConfigMap(now)],
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

function validateRevision(revision: KubeObject): FieldError[] {
  return [
    ...(revision['data'] === undefined ? [required('data', 'data is mandatory')] : []),
    ...notNegative({ revision: revision['revision'] }, '', 'revision').map((error) => ({ ...error, field: 'revision' })),
  ];
}

/** Whether the data is the same text. Approximate: a parsed object keeps the order of its fields, but not white space and escapes. */
function hasSameData(now: KubeObject, old: KubeObject): boolean {
  return JSON.stringify(now['data']) === JSON.stringify(old['data']);
}

/** Maximum data shown in a message: without a limit 3 MiB of data would make a message of 18 MiB. */
const MAX_SHOWN_BYTES = 4_096;

/** The bytes of the data as the real server's message shows them. */
function shownData(data: unknown): string {
  const all = Buffer.from(JSON.stringify(data) ?? '');
  const more = all.length > MAX_SHOWN_BYTES ? ', ...' : '';
  const bytes = `${[...all.subarray(0, MAX_SHOWN_BYTES)].map((byte) => `0x${byte.toString(16)}`).join(', ')}${more}`;
  return `runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:[]uint8{${bytes}}, ContentEncoding:"", ContentType:"application/json"}`;
}

function dataChanged(data: unknown): FieldError {
  const error = invalidShown('data', shownData(data), 'field is immutable', data);
  const json = error.today?.shown ?? '';
  return json.length <= MAX_SHOWN_BYTES ? error : { ...error, today: { shown: `${json.slice(0, MAX_SHOWN_BYTES)}, ...` } };
}

/** The controller of a revision: `statefulset.apps/web`. */
function controller(revision: KubeObject): string {
  const owner = revision.metadata.ownerReferences?.find((one) => one.controller === true);
  if (owner === undefined) return '<none>';
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.slice(0, owner.apiVersion.indexOf('/'))}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

export const controllerRevisions: Kind = {
  resource: 'controllerrevisions',
  singular: 'controllerrevision',
  kind: 'ControllerRevision',
  served: [{ group: 'apps', version: 'v1' }],
  namespaced: true,
  verbatim: 'data',
  nameProblems: dnsSubdomainProblems,
  validate: validateRevision,
  validateUpdate: (now, old) => [...validateRevision(now), ...(hasSameData(now, old) ? [] : [dataChanged(now['data'])])],
  columns: [
    nameColumn,
    { name: 'Controller', description: 'Controller of the object.', cell: controller },
    { name: 'Revision', description: 'Number of the revision.', cell: (revision) => Number(revision['revision'] ?? 0) },
    ageColumn,
  ],
  schema: typed('ControllerRevision', 'Earlier state of a set.'),
};

function validateLease(lease: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const duration = fieldAt(lease, 'spec', 'leaseDurationSeconds');
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = fieldAt(lease, 'spec', 'leaseTransitions');
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

export const leases: Kind = {
  resource: 'leases',
  singular: 'lease',
  kind: 'Lease',
  served: [{ group: 'coordination.k8s.io', version: 'v1' }],
  namespaced: true,
  needsVersion: true,
  nameProblems: dnsSubdomainProblems,
  validate: validateLease,
  columns: [
    nameColumn,
    { name: 'Holder', description: 'Process that holds the lease.', cell: (lease) => textAt(lease, 'spec', 'holderIdentity') },
    ageColumn,
  ],
  schema: object('Records which process holds a task, and until when.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    spec: object('Specification of the lease.', {
      holderIdentity: text('Identity of the holder.'),
      leaseDurationSeconds: int32('Seconds after the last renewal before another process may take the lease.'),
      acquireTime: time('When the current holder acquired the lease.'),
      renewTime: time('When the holder last renewed the lease.'),
      leaseTransitions: int32('Number of changes of the holder.'),
    }),
  }),
};
