import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { conflict, type FieldError, notSupported, required } from '../errors.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { withDefaults } from './number-rules.ts';
import { withDefaultTolerations, withPriority } from './priority-classes.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { podSpecErrors, podSpecUpdateErrors } from './pod-rules.ts';
import { typed } from './types/typed.ts';
import { type Action, ageColumn, type Column, type Kind, nameColumn, type RuleContext } from './kind.ts';
import type { KubeObject } from '../../kube/api/object.ts';

function statuses(pod: KubeObject): readonly unknown[] {
  return listAt(pod, 'status', 'containerStatuses');
}

function ready(pod: KubeObject): string {
  const up = statuses(pod).filter((one) => fieldAt(one, 'ready') === true && fieldAt(one, 'state', 'running') !== undefined).length;
  return `${up}/${listAt(pod, 'spec', 'containers').length}`;
}

/** The STATUS column of `kubectl get pods`: the reason of a container or of a deletion, else the phase. */
function status(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  for (const one of statuses(pod)) {
    const waiting = textAt(one, 'state', 'waiting', 'reason');
    const terminated = textAt(one, 'state', 'terminated', 'reason');
    if (waiting !== '' || terminated !== '') return waiting || terminated;
  }
  return textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

function restarts(pod: KubeObject): number {
  return statuses(pod).reduce<number>((sum, one) => sum + Number(fieldAt(one, 'restartCount') ?? 0), 0);
}

function gates(pod: KubeObject): string {
  const wanted = listAt(pod, 'spec', 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (wanted.length === 0) return '<none>';
  const open = listAt(pod, 'status', 'conditions').filter(
    (one) => wanted.includes(textAt(one, 'type')) && textAt(one, 'status') === 'True',
  );
  return `${open.length}/${wanted.length}`;
}

const wide = (name: string, description: string, cell: Column['cell']): Column => ({ name, description, cell, wide: true });

const podColumns: readonly Column[] = [
  nameColumn,
  { name: 'Ready', description: 'Ready containers and total containers.', cell: ready },
  { name: 'Status', description: 'Status of the pod.', cell: status },
  { name: 'Restarts', type: 'integer', description: 'Number of container restarts.', cell: restarts },
  ageColumn,
  wide('IP', 'IP address of the pod.', (pod) => textAt(pod, 'status', 'podIP') || '<none>'),
  wide('Node', 'Node that the pod runs on.', (pod) => textAt(pod, 'spec', 'nodeName') || '<none>'),
  wide('Nominated Node', 'Node on which pods are preempted for it.', (pod) => textAt(pod, 'status', 'nominatedNodeName') || '<none>'),
  wide('Readiness Gates', 'Conditions from outside that it needs to be ready.', gates),
];

const bindings = { group: '', resource: 'pods/binding' };

function defaults(pod: KubeObject): KubeObject {
  return { ...pod, spec: withDefaultTolerations(withDefaults(podSpecDefaults(pod['spec']), { enableServiceLinks: true })) };
}

function prepareCreate(pod: KubeObject, context: RuleContext): KubeObject {
  const admitted = withPriority(pod, context);
  const status = { phase: 'Pending', qosClass: qosClass(admitted) };
  const gated = listAt(admitted, 'spec', 'schedulingGates').length > 0;
  return { ...admitted, status: gated ? { ...status, conditions: [waiting] } : status };
}

const waiting = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** A write of the status subresource cannot change the owner references. */
function prepareUpdate(pod: KubeObject, old: KubeObject, { subresource }: RuleContext): KubeObject {
  if (subresource !== 'status') return pod;
  const { ownerReferences: _theirs, ...metadata } = pod.metadata;
  const { ownerReferences } = old.metadata;
  return { ...pod, metadata: ownerReferences === undefined ? metadata : { ...metadata, ownerReferences } };
}

/** Guaranteed, Burstable or BestEffort, from requests and limits. */
export function qosClass(pod: KubeObject): string {
  const containers = [...listAt(pod, 'spec', 'containers'), ...listAt(pod, 'spec', 'initContainers')];
  const amounts = (container: unknown, field: string) => {
    const found = fieldAt(container, 'resources', field);
    // The QoS class ignores other resources and zero amounts.
    const entries = Object.entries(isJsonObject(found) ? found : {}).filter(
      ([name, value]) => qosResources.includes(name) && value !== '0',
    );
    return new Map(entries);
  };
  if (containers.every((one) => ['requests', 'limits'].every((field) => amounts(one, field).size === 0))) return 'BestEffort';
  const full = containers.every((one) =>
    qosResources.every((resource) => {
      const limit = amounts(one, 'limits').get(resource);
      const request = amounts(one, 'requests').get(resource);
      return limit !== undefined && (request === undefined || request === limit);
    }),
  );
  return full ? 'Guaranteed' : 'Burstable';
}

const qosResources = ['cpu', 'memory'];

const validate = (pod: KubeObject): FieldError[] => podSpecErrors(pod['spec'], 'spec');

function validateUpdate(now: KubeObject, old: KubeObject, { subresource }: RuleContext): FieldError[] {
  return subresource === '' ? podSpecUpdateErrors(now['spec'], old['spec']) : [];
}

/** Bound and running pods get their grace period, for their kubelet; other pods are removed at once. */
function gracePeriod(pod: KubeObject, requested: number | undefined): number {
  const phase = textAt(pod, 'status', 'phase');
  if (textAt(pod, 'spec', 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const own = fieldAt(pod, 'spec', 'terminationGracePeriodSeconds');
  return requested ?? (typeof own === 'number' ? own : 30);
}

const binding: Action = {
  kind: 'Binding',
  act(pod, body, { now }) {
    const name = pod.metadata.name ?? '';
    const node = textAt(body, 'target', 'name');
    const bound = textAt(pod, 'spec', 'nodeName');
    const { uid } = body.metadata;
    if (uid && uid !== pod.metadata.uid) {
      throw conflict(bindings, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid ?? ''}`);
    }
    if (pod.metadata.deletionTimestamp !== undefined)
      throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
    if (bound !== '') throw conflict(bindings, name, `pod ${name} is already assigned to node ${JSON.stringify(bound)}`);
    const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
    const status = isJsonObject(pod['status']) ? pod['status'] : {};
    const others = listAt(pod, 'status', 'conditions').filter((condition) => textAt(condition, 'type') !== 'PodScheduled');
    const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
    const annotations = { ...pod.metadata.annotations, ...body.metadata.annotations };
    const metadata = Object.keys(annotations).length === 0 ? pod.metadata : { ...pod.metadata, annotations };
    return { ...pod, metadata, spec: { ...spec, nodeName: node }, status: { ...status, conditions: [...others, scheduled] } };
  },
  validate(body) {
    const kind = textAt(body, 'target', 'kind');
    return [
      ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
      ...(textAt(body, 'target', 'name') === '' ? [required('target.name', '')] : []),
    ];
  },
};

export const pods: Kind = {
  resource: 'pods',
  singular: 'pod',
  kind: 'Pod',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  generationSince: 33,
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate,
  validateUpdate,
  gracePeriod,
  actions: { binding },
  selectable: {
    'spec.nodeName': (pod) => textAt(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': (pod) => textAt(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': (pod) => textAt(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': (pod) => textAt(pod, 'spec', 'serviceAccountName'),
    'status.phase': (pod) => textAt(pod, 'status', 'phase'),
    'status.podIP': (pod) => textAt(pod, 'status', 'podIP'),
    'status.nominatedNodeName': (pod) => textAt(pod, 'status', 'nominatedNodeName'),
  },
  columns: podColumns,
  schema: typed('Pod', 'Containers that run together on one node.'),
};
