import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { prohibited, required } from '../field-error.ts';
import { conflict } from '../status-error.ts';
import type { Action, Kind, RuleContext } from './kind.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { podColumns } from './pod-columns.ts';
import { podSchema } from './pod-schema.ts';

const of = { group: '', resource: 'pods' };

// What a pod's spec says when its author says nothing.
const specDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
};

const containerDefaults = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: {},
};

function defaults(pod: KubeObject): KubeObject {
  const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
  const containers: Record<string, unknown> = {};
  for (const field of ['containers', 'initContainers']) {
    if (Array.isArray(spec[field])) containers[field] = spec[field].map(defaultContainer);
  }
  return { ...pod, spec: { ...specDefaults, ...spec, ...containers } };
}

function defaultContainer(container: unknown): unknown {
  if (!isJsonObject(container)) return container;
  const image = textAt(container, 'image');
  const tag = image.slice(image.lastIndexOf('/') + 1);
  // Without a tag, or with the tag latest, an image may have changed since it was pulled.
  const imagePullPolicy = !image.includes('@') && (!tag.includes(':') || tag.endsWith(':latest')) ? 'Always' : 'IfNotPresent';
  return { ...containerDefaults, imagePullPolicy, ...container };
}

function prepareCreate(pod: KubeObject): KubeObject {
  return { ...pod, status: { phase: 'Pending', qosClass: qosClass(pod) } };
}

/** Guaranteed, Burstable or BestEffort, from requests and limits. */
export function qosClass(pod: KubeObject): string {
  const containers = [...listAt(pod, 'spec', 'containers'), ...listAt(pod, 'spec', 'initContainers')];
  const amounts = (container: unknown, field: string) => {
    const found = fieldAt(container, 'resources', field);
    return isJsonObject(found) ? found : {};
  };
  const none = containers.every((one) => ['requests', 'limits'].every((field) => Object.keys(amounts(one, field)).length === 0));
  if (none) return 'BestEffort';
  const full = containers.every((one) =>
    ['cpu', 'memory'].every((resource) => {
      const limit = amounts(one, 'limits')[resource];
      const request = amounts(one, 'requests')[resource];
      return limit !== undefined && (request === undefined || request === limit);
    }),
  );
  return full ? 'Guaranteed' : 'Burstable';
}

function validate(pod: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const containers = listAt(pod, 'spec', 'containers');
  if (containers.length === 0) errors.push(required('spec.containers', ''));
  containers.forEach((container, at) => {
    if (textAt(container, 'name') === '') errors.push(required(`spec.containers[${at}].name`, ''));
    if (textAt(container, 'image') === '') errors.push(required(`spec.containers[${at}].image`, ''));
  });
  return errors;
}

const CHANGEABLE = new Set(['activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds']);

function validateUpdate(now: KubeObject, old: KubeObject, { subresource }: RuleContext): FieldError[] {
  const errors = validate(now);
  if (subresource === '' && !jsonEqual(fixed(now), fixed(old))) {
    const why =
      'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
    errors.push(prohibited('spec', why));
  }
  return errors;
}

/** What of a spec never changes. */
function fixed(pod: KubeObject): Record<string, unknown> {
  const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
  const rest = Object.fromEntries(Object.entries(spec).filter(([field]) => !CHANGEABLE.has(field)));
  const withoutImages = (field: string) => listAt(pod, 'spec', field).map((one) => (isJsonObject(one) ? { ...one, image: '' } : one));
  return { ...rest, containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
}

/** Bound and running pods are left to their kubelet for as long as they asked; all others go at once. */
function gracePeriod(pod: KubeObject, asked: number | undefined): number {
  const phase = textAt(pod, 'status', 'phase');
  if (textAt(pod, 'spec', 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const own = fieldAt(pod, 'spec', 'terminationGracePeriodSeconds');
  return asked ?? (typeof own === 'number' ? own : specDefaults.terminationGracePeriodSeconds);
}

const binding: Action = {
  kind: 'Binding',
  act(pod, body, { now }) {
    const name = pod.metadata.name ?? '';
    const node = textAt(body, 'target', 'name');
    const bound = textAt(pod, 'spec', 'nodeName');
    const { uid } = body.metadata;
    if (uid && uid !== pod.metadata.uid) {
      throw conflict(of, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid ?? ''}`);
    }
    if (pod.metadata.deletionTimestamp !== undefined)
      throw conflict(of, name, `pod ${name} is being deleted, cannot be assigned to a host`);
    if (bound !== '') throw conflict(of, name, `pod ${name} is already assigned to node ${JSON.stringify(bound)}`);
    const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
    const status = isJsonObject(pod['status']) ? pod['status'] : {};
    const others = listAt(pod, 'status', 'conditions').filter((condition) => textAt(condition, 'type') !== 'PodScheduled');
    const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
    const annotations = { ...pod.metadata.annotations, ...body.metadata.annotations };
    const metadata = Object.keys(annotations).length === 0 ? pod.metadata : { ...pod.metadata, annotations };
    return { ...pod, metadata, spec: { ...spec, nodeName: node }, status: { ...status, conditions: [...others, scheduled] } };
  },
  validate: (body) => (textAt(body, 'target', 'name') === '' ? [required('target.name', '')] : []),
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
  returnsDeleted: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate,
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
  schema: podSchema,
};
