import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { required } from '../field-error.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Column } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';
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
} from './template-rules.ts';
import { typed } from './types/typed.ts';

function defaults(set: KubeObject): KubeObject {
  return mapField(set, 'spec', (spec) => withDefaults(mapField(spec, 'template', templateDefaults), { replicas: 1 }));
}

function validate(set: KubeObject): FieldError[] {
  const errors = notNegative(set['spec'], 'spec', 'replicas', 'minReadySeconds');
  if (!isJsonObject(fieldAt(set, 'spec', 'selector'))) errors.push(required('spec.selector', ''));
  // The real server's message names the wrong kind.
  return [...errors, ...ownSelectorErrors(set, 'deployment'), ...replicaTemplateErrors(set, 'ReplicaSet')];
}

/** The template of what makes any number of equal pods. */
export function replicaTemplateErrors(set: KubeObject, of: string): FieldError[] {
  return [
    ...templateSelected(set),
    ...templateErrors(fieldAt(set, 'spec', 'template'), 'spec.template'),
    ...(textAt(set, 'spec', 'template', 'spec', 'restartPolicy') === '' ? [] : runsForGood(set, of)),
  ];
}

export function replicaStatusErrors({ status }: KubeObject): FieldError[] {
  return [
    ...notNegative(status, 'status', 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'),
    ...notAbove(status, 'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'),
    ...notAbove(status, 'readyReplicas', 'availableReplicas'),
  ];
}

export const replicaColumns: readonly Column[] = [
  nameColumn,
  countColumn('Desired', 'Pods there should be.', 'spec', 'replicas'),
  countColumn('Current', 'Pods there are.', 'status', 'replicas'),
  countColumn('Ready', 'Pods that are ready.', 'status', 'readyReplicas'),
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
  schema: typed('ReplicaSet', 'A number of equal pods.'),
};
