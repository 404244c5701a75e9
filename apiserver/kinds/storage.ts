import { jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { duplicate, type FieldError, invalidShown, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn } from './kind.ts';
import { fieldAt, goText, goTextList, listAt, textAt } from './metadata-rules.ts';
import { mapField, withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';
import type { KubeObject } from '../../kube/api/object.ts';

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
    .map((field): FieldError => ({
      ...prohibited(field, `updates to ${field} are forbidden.`),
      today: { type: 'invalid', shown: JSON.stringify(now[field] ?? null), detail: 'field is immutable' },
    }));
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
    { name: 'Provisioner', description: 'Driver that provisions the volumes.', cell: (storage) => textAt(storage, 'provisioner') },
    {
      name: 'ReclaimPolicy',
      description: 'What happens to volumes when their claims are deleted.',
      cell: (storage) => textAt(storage, 'reclaimPolicy'),
    },
    {
      name: 'VolumeBindingMode',
      description: 'When volumes are provisioned and bound.',
      cell: (storage) => textAt(storage, 'volumeBindingMode'),
    },
    {
      name: 'AllowVolumeExpansion',
      description: 'Whether volumes can be expanded.',
      cell: (storage) => storage['allowVolumeExpansion'] === true,
    },
    ageColumn,
  ],
  schema: typed('StorageClass', 'A class of storage.'),
};

/*
 * Objects of storage drivers: the drivers, their state on nodes, and volume attachments. Stored with few checks.
 */

function driversErrors(node: KubeObject): FieldError[] {
  const names = new Set<string>();
  return listAt(node, 'spec', 'drivers').flatMap((driver, at) => {
    const path = `spec.drivers[${at}]`;
    const name = textAt(driver, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${path}.name`, ''));
    errors.push(...dnsSubdomainProblems(name).map((problem) => invalidValue(`${path}.name`, name, problem)));
    if (textAt(driver, 'nodeID') === '') errors.push(required(`${path}.nodeID`, ''));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    const count = fieldAt(driver, 'allocatable', 'count');
    if (typeof count === 'number' && count < 0)
      errors.push(invalidValue(`${path}.allocatable.count`, count, 'must be greater than or equal to 0'));
    return errors;
  });
}

/** A driver on a node cannot change; drivers may be added and removed. */
function driversUnchanged(now: KubeObject, old: KubeObject): FieldError[] {
  const before = new Map(listAt(old, 'spec', 'drivers').map((driver) => [textAt(driver, 'name'), driver]));
  return listAt(now, 'spec', 'drivers').flatMap((driver) => {
    const known = before.get(textAt(driver, 'name'));
    if (known === undefined || jsonEqual(known, driver)) return [];
    const shown = `storage.CSINodeDriver{Name:${goText(fieldAt(driver, 'name'))}, NodeID:${goText(fieldAt(driver, 'nodeID'))}, TopologyKeys:${goTextList(fieldAt(driver, 'topologyKeys'))}, Allocatable:(*storage.VolumeNodeResources)(nil)}`;
    const json = {
      Name: textAt(driver, 'name'),
      NodeID: textAt(driver, 'nodeID'),
      TopologyKeys: fieldAt(driver, 'topologyKeys') ?? null,
      Allocatable: null,
    };
    return [invalidShown('CSINodeDriver', shown, 'field is immutable', json)];
  });
}

const specUnchanged = (now: KubeObject, old: KubeObject): FieldError[] =>
  jsonEqual(now['spec'], old['spec']) ? [] : [invalidValue('spec', now['spec'], 'field is immutable')];

const cluster = { namespaced: false, nameProblems: dnsSubdomainProblems, returnsDeleted: true } as const;
const served: Kind['served'] = [{ group: 'storage.k8s.io', version: 'v1' }];

export const csiNodes: Kind = {
  ...cluster,
  served,
  resource: 'csinodes',
  singular: 'csinode',
  kind: 'CSINode',
  validate: driversErrors,
  validateUpdate: (now, old) => [...driversErrors(now), ...driversUnchanged(now, old)],
  columns: [
    nameColumn,
    { name: 'Drivers', type: 'integer', description: 'Number of drivers.', cell: (node) => listAt(node, 'spec', 'drivers').length },
    ageColumn,
  ],
  schema: typed('CSINode', 'Storage drivers of a node.'),
};

export const csiDrivers: Kind = {
  ...cluster,
  served,
  resource: 'csidrivers',
  singular: 'csidriver',
  kind: 'CSIDriver',
  defaults: (driver, { release }) =>
    mapField(driver, 'spec', (spec) =>
      withDefaults(spec, {
        attachRequired: true,
        podInfoOnMount: false,
        volumeLifecycleModes: ['Persistent'],
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        ...(release < 21 ? {} : { storageCapacity: false, requiresRepublish: false }),
        ...(release < 27 ? {} : { seLinuxMount: false }),
        ...(release < 37 ? {} : { preventPodSchedulingIfMissing: false }),
      }),
    ),
  validateUpdate: (now, old, { release }) => (release < 29 ? specUnchanged(now, old) : []),
  columns: [
    nameColumn,
    {
      name: 'AttachRequired',
      type: 'boolean',
      description: 'Whether volumes must be attached.',
      cell: (driver) => fieldAt(driver, 'spec', 'attachRequired') === true,
    },
    {
      name: 'PodInfoOnMount',
      type: 'boolean',
      description: 'Whether the driver gets information about the pod on mount.',
      cell: (driver) => fieldAt(driver, 'spec', 'podInfoOnMount') === true,
    },
    {
      name: 'Modes',
      description: 'Supported lifecycles of volumes.',
      cell: (driver) => listAt(driver, 'spec', 'volumeLifecycleModes').join(','),
    },
    ageColumn,
  ],
  schema: typed('CSIDriver', 'A storage driver.'),
};

function attachmentErrors(attachment: KubeObject): FieldError[] {
  const { spec } = attachment;
  const errors: FieldError[] = [];
  const attacher = textAt(spec, 'attacher');
  const node = textAt(spec, 'nodeName');
  if (attacher === '') errors.push(required('spec.attacher', ''));
  const sources = ['inlineVolumeSpec', 'persistentVolumeName'].filter((source) => fieldAt(spec, 'source', source) !== undefined);
  if (sources.length !== 1) errors.push(required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'));
  return [
    ...errors,
    ...dnsSubdomainProblems(node).map((problem) => invalidValue('spec.nodeName', node, problem)),
    ...dnsSubdomainProblems(attacher).map((problem) => invalidValue('spec.attacher', attacher, problem)),
  ];
}

export const volumeAttachments: Kind = {
  ...cluster,
  served,
  resource: 'volumeattachments',
  singular: 'volumeattachment',
  kind: 'VolumeAttachment',
  hasStatus: true,
  prepareCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  validate: attachmentErrors,
  validateUpdate: specUnchanged,
  columns: [
    nameColumn,
    { name: 'Attacher', format: 'name', description: 'Driver that attaches the volume.', cell: (one) => textAt(one, 'spec', 'attacher') },
    { name: 'PV', description: 'The volume.', cell: (one) => textAt(one, 'spec', 'source', 'persistentVolumeName') },
    { name: 'Node', description: 'The node.', cell: (one) => textAt(one, 'spec', 'nodeName') },
    {
      name: 'Attached',
      type: 'boolean',
      description: 'Whether the volume is attached.',
      cell: (one) => fieldAt(one, 'status', 'attached') === true,
    },
    ageColumn,
  ],
  schema: typed('VolumeAttachment', 'Attaches a volume to a node.'),
};
