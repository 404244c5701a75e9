import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { type FieldError, invalidShown, required } from '../errors.ts';
import { ageColumn, type Column, type Kind, nameColumn } from './kind.ts';
import { fieldAt, goTextMap, nodeSelectorText, selects, textAt } from './metadata-rules.ts';
import { mapField, notNegative, withDefaults } from './number-rules.ts';
import { templateDefaults } from './pod-defaults.ts';
import {
  containerColumns,
  countColumn,
  notAbove,
  ownSelectorErrors,
  runsForGood,
  selectorColumn,
  selectorUnchanged,
  templateErrors,
  templateSelected,
} from './set-rules.ts';
import { typed } from './types/typed.ts';
import type { KubeObject } from '../../kube/api/object.ts';

function defaults(set: KubeObject): KubeObject {
  return mapField(set, 'spec', (spec) => withDefaults(mapField(spec, 'template', templateDefaults), { replicas: 1 }));
}

function validate(set: KubeObject): FieldError[] {
  const errors = notNegative(set['spec'], 'spec', 'replicas', 'minReadySeconds');
  if (!isJsonObject(fieldAt(set, 'spec', 'selector'))) errors.push(required('spec.selector', ''));
  // The real server's message names the wrong kind.
  return [...errors, ...ownSelectorErrors(set, 'deployment'), ...replicaTemplateErrors(set, 'ReplicaSet')];
}

/** Errors of the template of ReplicaSets and ReplicationControllers. */
function replicaTemplateErrors(set: KubeObject, of: string): FieldError[] {
  return [
    ...templateSelected(set),
    ...templateErrors(fieldAt(set, 'spec', 'template'), 'spec.template'),
    ...(textAt(set, 'spec', 'template', 'spec', 'restartPolicy') === '' ? [] : runsForGood(set, of)),
  ];
}

function replicaStatusErrors({ status }: KubeObject): FieldError[] {
  return [
    ...notNegative(status, 'status', 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'),
    ...notAbove(status, 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'),
    ...notAbove(status, 'readyReplicas', 'availableReplicas'),
  ];
}

const replicaColumns: readonly Column[] = [
  nameColumn,
  countColumn('Desired', 'Desired number of pods.', 'spec', 'replicas'),
  countColumn('Current', 'Number of pods.', 'status', 'replicas'),
  countColumn('Ready', 'Number of ready pods.', 'status', 'readyReplicas'),
  ageColumn,
  ...containerColumns('spec', 'template'),
];

export const replicaSets: Kind = {
  resource: 'replicasets',
  singular: 'replicaset',
  kind: 'ReplicaSet',
  served: [{ group: 'apps', version: 'v1' }],
  namespaced: true,
  shortNames: ['rs'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (set) => ({ ...set, status: { replicas: 0 } }),
  validate,
  validateUpdate: (now, old, { subresource }) =>
    subresource === 'status' ? replicaStatusErrors(now) : [...validate(now), ...selectorUnchanged(now, old)],
  selectable: { 'status.replicas': (set) => textAt(set, 'status', 'replicas') || '0' },
  columns: [...replicaColumns, selectorColumn],
  schema: typed('ReplicaSet', 'Keeps a number of identical pods running.'),
};

/** Selector and labels default to the labels of the template. */
function controllerDefaults(controller: KubeObject): KubeObject {
  const labels = fieldAt(controller, 'spec', 'template', 'metadata', 'labels');
  const own = isJsonObject(labels) && Object.keys(labels).length > 0 ? labels : undefined;
  const spec = mapField(controller, 'spec', (given) =>
    withDefaults(mapField(given, 'template', templateDefaults), { replicas: 1, ...(own ? { selector: own } : {}) }),
  );
  if (own === undefined || controller.metadata.labels !== undefined) return spec;
  return { ...spec, metadata: { ...spec.metadata, labels: own as Record<string, string> } };
}

function validateController(controller: KubeObject): FieldError[] {
  const errors = notNegative(controller['spec'], 'spec', 'minReadySeconds');
  const selector = fieldAt(controller, 'spec', 'selector');
  if (!isJsonObject(selector)) errors.push(required('spec.selector', ''));
  errors.push(...notNegative(controller['spec'], 'spec', 'replicas'));
  const template = fieldAt(controller, 'spec', 'template');
  if (!isJsonObject(template)) return [...errors, required('spec.template', '')];
  const labels = fieldAt(template, 'metadata', 'labels');
  if (isJsonObject(selector) && selects({ matchLabels: selector }, labels) === false)
    errors.push(
      invalidShown('spec.template.metadata.labels', goTextMap(labels), '`selector` does not match template `labels`', labels ?? null),
    );
  return [...errors, ...templateErrors(template, 'spec.template'), ...runsForGood(controller, 'ReplicationController')];
}

export const replicationControllers: Kind = {
  resource: 'replicationcontrollers',
  singular: 'replicationcontroller',
  kind: 'ReplicationController',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['rc'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  defaults: controllerDefaults,
  prepareCreate: (controller) => ({ ...controller, status: { replicas: 0 } }),
  validate: validateController,
  validateUpdate: (now, _old, { subresource }) => (subresource === 'status' ? replicaStatusErrors(now) : validateController(now)),
  selectable: { 'status.replicas': (controller) => textAt(controller, 'status', 'replicas') || '0' },
  columns: [
    ...replicaColumns,
    {
      name: 'Selector',
      wide: true,
      description: 'Labels of its pods.',
      cell: (controller) => nodeSelectorText(fieldAt(controller, 'spec', 'selector')),
    },
  ],
  schema: typed('ReplicationController', 'Keeps a number of identical pods running; superseded by ReplicaSet.'),
};
