import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { configMapKeyProblems, dnsLabelProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { anything, flag, list, object, quantityMap, ref, text, time } from '../openapi/schema.ts';
import { ageColumn, type Column, type Kind, nameColumn } from './kind.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { taintErrors } from './scheduling-rules.ts';
import { type FieldError, invalidShown, invalidValue, prohibited, required } from '../errors.ts';

/*
 * Node.spec.configSource and Node.status.config, as API servers from 1.11 to 1.25 (gate on) and all later ones (gate off) treat them.
 */

/** Rules of both fields, for updates only: the server does not validate them on create. */
function validateConfigSources(node: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = fieldAt(node, 'spec', 'configSource');
  if (isSet(spec)) errors.push(...validateSource(spec, 'spec.configSource', 'spec'));
  for (const part of ['assigned', 'active', 'lastKnownGood']) {
    const source = fieldAt(node, 'status', 'config', part);
    if (isSet(source)) errors.push(...validateSource(source, `status.config.${part}`, 'status'));
  }
  return errors;
}

/** With the gate off both fields of a new Node are dropped silently. */
function dropOnCreate(node: KubeObject): KubeObject {
  return without(without(node, 'spec', 'configSource'), 'status', 'config');
}

/** With the gate off an update keeps a field only if the old Node has it. */
function dropOnUpdate(node: KubeObject, old: KubeObject): KubeObject {
  const spec = isSet(fieldAt(old, 'spec', 'configSource')) ? node : without(node, 'spec', 'configSource');
  return isSet(fieldAt(old, 'status', 'config')) ? spec : without(spec, 'status', 'config');
}

/** Whether the update assigns another ConfigMap; clearing the assignment does not count. */
export function changesConfigSource(node: KubeObject, old: KubeObject): boolean {
  const now = fieldAt(node, 'spec', 'configSource');
  return isSet(now) && !jsonEqual(now, fieldAt(old, 'spec', 'configSource'));
}

/** The ConfigMap that a Node refers to; undefined: none. */
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

const ROLE_LABEL = 'node-role.kubernetes.io/';

/** The STATUS column: readiness, and whether the node is cordoned. */
function readiness(node: KubeObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => textAt(condition, 'type') === 'Ready');
  const word = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return fieldAt(node, 'spec', 'unschedulable') === true ? `${word},SchedulingDisabled` : word;
}

function roles(node: KubeObject): string {
  const names = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_LABEL) && key !== ROLE_LABEL) return [key.slice(ROLE_LABEL.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return names.length === 0 ? '<none>' : names.sort().join(',');
}

function address(node: KubeObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((one) => textAt(one, 'type') === type);
  return textAt(found, 'address') || '<none>';
}

const info = (name: string, field: string, wide: boolean, absent: string): Column => ({
  name,
  wide,
  description: `${field} that the node reports.`,
  cell: (node) => textAt(node, 'status', 'nodeInfo', field) || absent,
});

/** The kernel version; later servers append the architecture. */
const kernel = (node: KubeObject): string => {
  const [version, architecture] = ['kernelVersion', 'architecture'].map((field) => textAt(node, 'status', 'nodeInfo', field));
  return version ? `${version} (${architecture || '<unknown>'})` : '<unknown>';
};

const configMapFields = {
  namespace: text('Namespace of the ConfigMap. Required everywhere.'),
  name: text('Name of the ConfigMap. Required everywhere.'),
  uid: text('UID of the ConfigMap. Forbidden in spec, required in status.'),
  resourceVersion: text('resourceVersion of the ConfigMap. Forbidden in spec, required in status.'),
  kubeletConfigKey: text('Key of the ConfigMap whose value is the KubeletConfiguration. Required everywhere.'),
};

const configSource = (description: string) =>
  object(description, {
    configMap: object('A key of a ConfigMap.', configMapFields, ['namespace', 'name', 'kubeletConfigKey']),
  });

/** Makes podCIDR and podCIDRs consistent. */
function withRanges(node: KubeObject): KubeObject {
  const [one, [first]] = [textAt(node, 'spec', 'podCIDR'), listAt(node, 'spec', 'podCIDRs')];
  const spec = isJsonObject(node['spec']) ? node['spec'] : {};
  if (one !== '' && first === undefined) return { ...node, spec: { ...spec, podCIDRs: [one] } };
  return typeof first === 'string' && first !== one ? { ...node, spec: { ...spec, podCIDR: first } } : node;
}

export const nodes: Kind = {
  resource: 'nodes',
  singular: 'node',
  kind: 'Node',
  served: [{ group: '', version: 'v1' }],
  namespaced: false,
  shortNames: ['no'],
  hasStatus: true,
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (node, { dynamicKubeletConfig }) => (dynamicKubeletConfig ? node : dropOnCreate(node)),
  prepareUpdate: (node, old, { dynamicKubeletConfig }) => (dynamicKubeletConfig ? node : dropOnUpdate(node, old)),
  // Computed after fields are dropped: only a stored field gets a warning.
  warnings: (node, { dynamicKubeletConfig, subresource }) =>
    dynamicKubeletConfig || subresource !== '' || fieldAt(node, 'spec', 'configSource') === undefined
      ? []
      : ['spec.configSource: the feature is removed'],
  defaults: withRanges,
  validate: (node) => taintErrors(listAt(node, 'spec', 'taints')),
  validateUpdate: (node) => [...taintErrors(listAt(node, 'spec', 'taints')), ...validateConfigSources(node)],
  selectable: { 'spec.unschedulable': (node) => String(fieldAt(node, 'spec', 'unschedulable') === true) },
  columns: [
    nameColumn,
    { name: 'Status', description: 'Whether the node is ready and takes pods.', cell: readiness },
    { name: 'Roles', description: 'Roles from the labels of the node.', cell: roles },
    ageColumn,
    info('Version', 'kubeletVersion', false, ''),
    { name: 'Internal-IP', wide: true, description: 'Address inside the cluster.', cell: (node) => address(node, 'InternalIP') },
    { name: 'External-IP', wide: true, description: 'Address outside the cluster.', cell: (node) => address(node, 'ExternalIP') },
    info('OS-Image', 'osImage', true, '<unknown>'),
    { ...info('Kernel-Version', 'kernelVersion', true, '<unknown>'), until: 33 },
    { ...info('Kernel-Version', 'kernelVersion', true, '<unknown>'), since: 34, cell: kernel },
    info('Container-Runtime', 'containerRuntimeVersion', true, '<unknown>'),
  ],
  schema: object('A machine that runs pods.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    spec: object('Desired state of the node.', {
      configSource: configSource('The ConfigMap key that the kubelet should take its configuration from.'),
      podCIDR: text('Addresses for pods of this node.'),
      podCIDRs: list('Addresses for pods of this node, at most one range per family.', text('A range.'), { as: 'set' }),
      externalID: text('Deprecated, not used.'),
      providerID: text('ID of the machine at the cloud provider.'),
      taints: list(
        'Taints of the node, which repel pods without a matching toleration.',
        object(
          'A taint.',
          {
            key: text('Name.'),
            value: text('Value.'),
            effect: text('NoSchedule, PreferNoSchedule or NoExecute.'),
            timeAdded: time('When a NoExecute taint was added.'),
          },
          ['key', 'effect'],
        ),
      ),
      unschedulable: flag('Whether new pods are kept off the node.'),
    }),
    status: object('State of the node, as the kubelet reports it.', {
      addresses: list(
        'Addresses of the node.',
        object('An address.', { type: text('InternalIP, ExternalIP, Hostname, ...'), address: text('The address.') }, ['type', 'address']),
        { by: 'type' },
      ),
      allocatable: quantityMap('Resources available to pods.'),
      capacity: quantityMap('Total resources of the node.'),
      conditions: list(
        'Observed conditions.',
        object(
          'A condition.',
          {
            type: text('Type of the condition.'),
            status: text('True, False or Unknown.'),
            reason: text('Reason, in one word.'),
            message: text('Human-readable details.'),
            lastHeartbeatTime: time('When the condition was last reported.'),
            lastTransitionTime: time('When the status last changed.'),
          },
          ['type', 'status'],
        ),
        { by: 'type' },
      ),
      config: object('Which configuration the kubelet uses.', {
        assigned: configSource('The assigned configuration, as saved on the disk of the node.'),
        active: configSource('The configuration in use; if absent, the local configuration.'),
        lastKnownGood: configSource('The configuration that the node falls back to; if absent, its local configuration.'),
        error: text('Why the node does not use the assigned configuration.'),
      }),
      daemonEndpoints: anything('Ports of the kubelet.'),
      images: list('Container images on the node.', anything('An image.')),
      nodeInfo: anything('Versions and IDs of the node.'),
      phase: text('Deprecated, not used.'),
      features: anything('Features of the node.'),
      runtimeHandlers: list('Runtimes of the node.', anything('A runtime.')),
      volumesAttached: list('Volumes attached to the node.', anything('A volume.')),
      volumesInUse: list('Volumes in use on the node.', text('A volume.')),
    }),
  }),
};
