import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';
import { invalidShown, required } from '../errors.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Kind } from './kind.ts';
import { notNegative } from './number-rules.ts';
import { typed } from './types/typed.ts';

function validate(revision: KubeObject): FieldError[] {
  return [
    ...(revision['data'] === undefined ? [required('data', 'data is mandatory')] : []),
    ...notNegative({ revision: revision['revision'] }, '', 'revision').map((error) => ({ ...error, field: 'revision' })),
  ];
}

/** Whether the data is in the same words. A parsed object keeps the order of its fields, but neither white space nor how its texts were escaped. */
function hasSameWords(now: KubeObject, old: KubeObject): boolean {
  return JSON.stringify(now['data']) === JSON.stringify(old['data']);
}

/** Of 3 MiB of data a message of 18 MiB would be made. */
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

/** `statefulset.apps/web`: its controller. */
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
  validate,
  validateUpdate: (now, old) => [...validate(now), ...(hasSameWords(now, old) ? [] : [dataChanged(now['data'])])],
  columns: [
    nameColumn,
    { name: 'Controller', description: 'Controller of the object.', cell: controller },
    { name: 'Revision', description: 'Number of the revision.', cell: (revision) => Number(revision['revision'] ?? 0) },
    ageColumn,
  ],
  schema: typed('ControllerRevision', 'Earlier state of a set.'),
};
