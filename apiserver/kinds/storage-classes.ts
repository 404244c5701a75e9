import { jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidValue, notSupported, prohibited, required } from '../field-error.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { textAt } from './metadata-rules.ts';
import { withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';

const enums = [
  ['reclaimPolicy', ['Delete', 'Retain']],
  ['volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']],
] as const;

function validate(storage: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(storage, 'provisioner') === '') errors.push(required('provisioner', ''));
  for (const [field, values] of enums) {
    const value = textAt(storage, field);
    if (!values.some((one) => one === value)) errors.push(notSupported(field, value, values));
  }
  return errors;
}

function unchanged(now: KubeObject, old: KubeObject): FieldError[] {
  const errors = ['parameters', 'provisioner', 'reclaimPolicy']
    .filter((field) => !jsonEqual(now[field], old[field]))
    .map((field) => prohibited(field, `updates to ${field} are forbidden.`));
  if (now['volumeBindingMode'] !== old['volumeBindingMode'])
    errors.push(invalidValue('volumeBindingMode', now['volumeBindingMode'], 'field is immutable'));
  return errors;
}

const defaultMarks = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const storageClasses: Kind = {
  resource: 'storageclasses',
  singular: 'storageclass',
  kind: 'StorageClass',
  served: [{ group: 'storage.k8s.io', version: 'v1' }],
  namespaced: false,
  shortNames: ['sc'],
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  defaults: (storage) => withDefaults(storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate,
  validateUpdate: (now, old) => [...validate(now), ...unchanged(now, old)],
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }) =>
        `${metadata.name ?? ''}${defaultMarks.some((mark) => metadata.annotations?.[mark] === 'true') ? ' (default)' : ''}`,
    },
    { name: 'Provisioner', description: 'Who makes volumes.', cell: (storage) => textAt(storage, 'provisioner') },
    { name: 'ReclaimPolicy', description: 'What becomes of volumes.', cell: (storage) => textAt(storage, 'reclaimPolicy') },
    { name: 'VolumeBindingMode', description: 'When volumes are made.', cell: (storage) => textAt(storage, 'volumeBindingMode') },
    {
      name: 'AllowVolumeExpansion',
      description: 'Volumes can grow.',
      cell: (storage) => storage['allowVolumeExpansion'] === true,
    },
    ageColumn,
  ],
  schema: typed('StorageClass', 'A way to get volumes.'),
};
