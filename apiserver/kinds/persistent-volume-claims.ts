import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { quantity } from '../../kube/api/quantity.ts';
import { type FieldError, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { fieldAt, listAt, selectorErrors, textAt } from './metadata-rules.ts';
import { mapField, withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';
import type { KubeObject } from '../../kube/api/object.ts';

const short: readonly (readonly [mode: string, text: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** `RWO,ROX`: access modes as tables show them. */
export function accessModesText(modes: readonly unknown[]): string {
  return short
    .filter(([mode]) => modes.includes(mode))
    .map(([, text]) => text)
    .join(',');
}

/** The class of a volume or claim; an old annotation wins. */
export function storageClassOf(object: KubeObject): string {
  return object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec', 'storageClassName');
}

/** Modes a volume can be used in; the last one since 1.22. */
export function accessModes(release: number): readonly string[] {
  return release < 22
    ? ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
    : ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
}

/** Of a claim's spec, alone or in a claim template. */
export function claimDefaults(spec: unknown): unknown {
  return withDefaults(spec, { volumeMode: 'Filesystem' });
}

function validate(claim: KubeObject, release: number): FieldError[] {
  const { spec } = claim;
  const modes = listAt(spec, 'accessModes');
  const errors = selectorErrors(fieldAt(spec, 'selector'), 'spec.selector');
  if (modes.length === 0) errors.push(required('spec.accessModes', 'at least 1 access mode is required'));
  for (const mode of modes) {
    if (!accessModes(release).includes(String(mode))) errors.push(notSupported('spec.accessModes', mode, accessModes(release)));
  }
  const size = fieldAt(spec, 'resources', 'requests', 'storage');
  if (size === undefined) errors.push(required('spec.resources[storage]', ''));
  else errors.push(...sizeErrors(size, 'spec.resources[storage]'));
  return errors;
}

/** Sizes of storage are above zero. */
export function sizeErrors(size: unknown, path: string): FieldError[] {
  const found = quantity(String(size));
  return found !== undefined && found.nanos <= 0n ? [invalidValue(path, size, 'must be greater than zero')] : [];
}

/** A claim is bound once; what it asks for may only grow, and only when it is bound. */
function unchanged(now: KubeObject, old: KubeObject): FieldError[] {
  const bound = textAt(now, 'status', 'phase') === 'Bound';
  const fixed = ({ spec }: KubeObject) => {
    const rest: Record<string, unknown> = { ...(isJsonObject(spec) ? spec : {}) };
    if (textAt(old, 'spec', 'volumeName') === '') delete rest['volumeName'];
    if (bound) delete rest['resources'];
    delete rest['volumeAttributesClassName'];
    return rest;
  };
  const errors: FieldError[] = [];
  if (!jsonEqual(fixed(now), fixed(old)))
    errors.push({
      ...prohibited('spec', 'spec is immutable after creation except resources.requests for bound claims'),
      today: { detail: 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims' },
    });
  const [size, before] = [now, old].map((claim) => quantity(textAt(claim, 'spec', 'resources', 'requests', 'storage')));
  if (bound && size !== undefined && before !== undefined && size.nanos < before.nanos)
    errors.push(prohibited('spec.resources.requests.storage', 'field can not be less than previous value'));
  return errors;
}

/** No finalizer `kubernetes.io/pvc-protection` is added: no controller here removes it. */
export const persistentVolumeClaims: Kind = {
  resource: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  kind: 'PersistentVolumeClaim',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['pvc'],
  hasStatus: true,
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  defaults: (claim) => mapField(claim, 'spec', claimDefaults),
  prepareCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  validate: (claim, { release }) => validate(claim, release),
  validateUpdate: (now, old, { subresource, release }) =>
    subresource === 'status' ? [] : [...validate(now, release), ...unchanged(now, old)],
  columns: [
    nameColumn,
    {
      name: 'Status',
      description: 'Pending, Bound or Lost.',
      cell: (claim) => (claim.metadata.deletionTimestamp === undefined ? textAt(claim, 'status', 'phase') : 'Terminating'),
    },
    { name: 'Volume', description: 'Volume that the claim is bound to.', cell: (claim) => textAt(claim, 'spec', 'volumeName') },
    {
      name: 'Capacity',
      description: 'Size of the volume.',
      cell: (claim) => (textAt(claim, 'spec', 'volumeName') === '' ? '' : textAt(claim, 'status', 'capacity', 'storage') || '0'),
    },
    {
      name: 'Access Modes',
      description: 'Access modes of the volume.',
      cell: (claim) => (textAt(claim, 'spec', 'volumeName') === '' ? '' : accessModesText(listAt(claim, 'status', 'accessModes'))),
    },
    { name: 'StorageClass', description: 'Storage class of the claim.', cell: storageClassOf },
    ageColumn,
    {
      name: 'VolumeMode',
      wide: true,
      description: 'Filesystem or Block.',
      cell: (claim) => textAt(claim, 'spec', 'volumeMode') || '<unset>',
    },
  ],
  schema: typed('PersistentVolumeClaim', 'A request for storage.'),
};
