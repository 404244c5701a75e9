import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidValue, notSupported, notSupportedShown, prohibited, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { fieldAt, listAt, selectorErrors, textAt } from './metadata-rules.ts';
import { mapField, withDefaults } from './number-rules.ts';
import { nodeSelectorErrors } from './scheduling-rules.ts';
import { oneSourceErrors } from './pod-rules.ts';
import { typed } from './types/typed.ts';
import { quantity } from '../../kube/api/quantity.ts';

const short: readonly (readonly [mode: string, text: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** `RWO,ROX`: access modes as tables show them. */
function accessModesText(modes: readonly unknown[]): string {
  return short
    .filter(([mode]) => modes.includes(mode))
    .map(([, text]) => text)
    .join(',');
}

/** The class of a volume or claim; the old annotation wins. */
function storageClassOf(object: KubeObject): string {
  return object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec', 'storageClassName');
}

/** Access modes of volumes; the last one since 1.22. */
function accessModes(release: number): readonly string[] {
  return release < 22
    ? ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
    : ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
}

/** Defaults of a claim's spec, also in a claim template. */
export function claimDefaults(spec: unknown): unknown {
  return withDefaults(spec, { volumeMode: 'Filesystem' });
}

function validateClaim(claim: KubeObject, release: number): FieldError[] {
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

/** Errors of sizes, which must be above zero. */
function sizeErrors(size: unknown, path: string): FieldError[] {
  const found = quantity(String(size));
  return found !== undefined && found.nanos <= 0n ? [invalidValue(path, size, 'must be greater than zero')] : [];
}

/** A claim is bound only once; its request may only grow, and only while the claim is bound. */
function unchangedClaim(now: KubeObject, old: KubeObject): FieldError[] {
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
  validate: (claim, { release }) => validateClaim(claim, release),
  validateUpdate: (now, old, { subresource, release }) =>
    subresource === 'status' ? [] : [...validateClaim(now, release), ...unchangedClaim(now, old)],
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

// Fields of a spec that are not a volume source.
const notSources = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function sourcesOf(volume: KubeObject): Record<string, unknown> {
  const spec = isJsonObject(volume['spec']) ? volume['spec'] : {};
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !notSources.has(field)));
}

function volumeDefaults(volume: KubeObject): KubeObject {
  return mapField(volume, 'spec', (spec) =>
    mapField(withDefaults(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }), 'hostPath', (hostPath) =>
      withDefaults(hostPath, { type: '' }),
    ),
  );
}

const policies = ['Delete', 'Recycle', 'Retain'];

function validateVolume(volume: KubeObject, release: number): FieldError[] {
  const { spec } = volume;
  const modes = listAt(spec, 'accessModes');
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required('spec.accessModes', ''));
  for (const mode of modes) {
    if (!accessModes(release).includes(String(mode))) errors.push(notSupported('spec.accessModes', mode, accessModes(release)));
  }
  const capacity = fieldAt(spec, 'capacity');
  const size = fieldAt(capacity, 'storage');
  if (!isJsonObject(capacity)) errors.push(required('spec.capacity', ''));
  if (size === undefined) errors.push(notSupportedShown('spec.capacity', 'core.ResourceList(nil)', ['storage']));
  else errors.push(...sizeErrors(size, 'spec.capacity[storage]'));
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  if (!policies.includes(policy)) errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, policies));
  const sources = Object.entries(sourcesOf(volume));
  const affinity = fieldAt(spec, 'nodeAffinity');
  if (isJsonObject(affinity)) errors.push(...affinityErrors(affinity));
  sources.forEach(([name, source], at) => {
    if (at > 0) errors.push(prohibited(`spec.${name}`, 'may not specify more than 1 volume type'));
    else errors.push(...oneSourceErrors(source, name, 'spec'));
    if (name === 'local' && affinity === undefined) errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  });
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  if (textAt(spec, 'hostPath', 'path') === '/' && policy === 'Recycle')
    errors.push(prohibited('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"));
  return errors;
}

function affinityErrors(affinity: unknown): FieldError[] {
  const wanted = fieldAt(affinity, 'required');
  if (wanted === undefined) return [required('spec.nodeAffinity.required', 'must specify required node constraints')];
  return nodeSelectorErrors(wanted, 'spec.nodeAffinity.required');
}

function unchangedVolume(now: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!jsonEqual(sourcesOf(now), sourcesOf(old)))
    errors.push(prohibited('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'));
  const mode = textAt(now, 'spec', 'volumeMode');
  if (mode !== textAt(old, 'spec', 'volumeMode')) errors.push(invalidValue('spec.volumeMode', mode, 'field is immutable'));
  const before = fieldAt(old, 'spec', 'nodeAffinity');
  if (before !== undefined && !jsonEqual(fieldAt(now, 'spec', 'nodeAffinity'), before))
    errors.push(invalidValue('spec.nodeAffinity', fieldAt(now, 'spec', 'nodeAffinity'), 'field is immutable'));
  return errors;
}

/** No finalizer `kubernetes.io/pv-protection` is added: no controller here removes it. */
export const persistentVolumes: Kind = {
  resource: 'persistentvolumes',
  singular: 'persistentvolume',
  kind: 'PersistentVolume',
  served: [{ group: '', version: 'v1' }],
  namespaced: false,
  shortNames: ['pv'],
  hasStatus: true,
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  defaults: volumeDefaults,
  prepareCreate: (volume) => ({ ...volume, status: { phase: 'Pending' } }),
  validate: (volume, { release }) => validateVolume(volume, release),
  validateUpdate: (now, old, { subresource, release }) =>
    subresource === 'status' ? [] : [...validateVolume(now, release), ...unchangedVolume(now, old)],
  columns: [
    nameColumn,
    { name: 'Capacity', description: 'Size of the volume.', cell: (volume) => textAt(volume, 'spec', 'capacity', 'storage') || '0' },
    {
      name: 'Access Modes',
      description: 'Access modes of the volume.',
      cell: (volume) => accessModesText(listAt(volume, 'spec', 'accessModes')),
    },
    {
      name: 'Reclaim Policy',
      description: 'What happens to the volume when its claim is deleted.',
      cell: (volume) => textAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
    },
    {
      name: 'Status',
      description: 'Available, Bound, Released or Failed.',
      cell: (volume) => (volume.metadata.deletionTimestamp === undefined ? textAt(volume, 'status', 'phase') : 'Terminating'),
    },
    {
      name: 'Claim',
      description: 'Claim that the volume is bound to.',
      cell: ({ spec }) =>
        fieldAt(spec, 'claimRef') === undefined ? '' : `${textAt(spec, 'claimRef', 'namespace')}/${textAt(spec, 'claimRef', 'name')}`,
    },
    { name: 'StorageClass', description: 'Storage class of the volume.', cell: storageClassOf },
    { name: 'Reason', description: 'Reason for the current phase.', cell: (volume) => textAt(volume, 'status', 'reason') },
    ageColumn,
    {
      name: 'VolumeMode',
      wide: true,
      description: 'Filesystem or Block.',
      cell: (volume) => textAt(volume, 'spec', 'volumeMode') || '<unset>',
    },
  ],
  schema: typed('PersistentVolume', 'A volume of the cluster.'),
};
