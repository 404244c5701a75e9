import { isJsonObject } from '../../kube/api/json.ts';
import { configMapKeyProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidValue, tooLong } from '../field-error.ts';
import { flag, object, ref, text, textMap } from '../openapi/schema.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import { bag, base64Bytes, MAX_BYTES, validateImmutable } from './config-maps.ts';
import type { Kind } from './kind.ts';

/** `stringData` is for writing only: it goes into `data`, over what is there. */
function defaults(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const given = Object.entries(isJsonObject(stringData) ? stringData : {});
  const written = given.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
  const data = given.length === 0 ? {} : { data: { ...bag(secret, 'data'), ...Object.fromEntries(written) } };
  return { type: 'Opaque', ...rest, metadata: secret.metadata, ...data };
}

function validate(secret: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(bag(secret, 'data'))) {
    errors.push(...configMapKeyProblems(key).map((problem) => invalidValue(`data[${key}]`, key, problem)));
    bytes += base64Bytes(value);
  }
  if (bytes > MAX_BYTES) errors.push(tooLong('data', MAX_BYTES));
  return errors;
}

function validateUpdate(now: KubeObject, old: KubeObject): FieldError[] {
  const moved = now['type'] === old['type'] ? [] : [invalidValue('type', now['type'], 'field is immutable')];
  return [...moved, ...validateImmutable(now, old, ['data']), ...validate(now)];
}

export const secrets: Kind = {
  resource: 'secrets',
  singular: 'secret',
  kind: 'Secret',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  validate,
  validateUpdate,
  selectable: { type: (secret) => String(secret['type']) },
  columns: [
    nameColumn,
    { name: 'Type', description: 'What it is for.', cell: (secret) => String(secret['type']) },
    { name: 'Data', type: 'integer', description: 'Number of keys.', cell: (secret) => Object.keys(bag(secret, 'data')).length },
    ageColumn,
  ],
  schema: object('Something that not everybody should read. Kept in memory as it is.', {
    metadata: ref('ObjectMeta', 'Name, labels and the like.'),
    data: textMap('Bytes by key, in base64.'),
    stringData: textMap('Texts by key; written into data.'),
    immutable: flag('Values can not be changed any more.'),
    type: text('What it is for.'),
  }),
};
