import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, required } from '../field-error.ts';
import type { Kind } from './kind.ts';
import { goTextMap } from './go-text.ts';
import { fieldAt, textAt } from './metadata-rules.ts';
import { mapField, notNegative, withDefaults } from './number-rules.ts';
import { templateDefaults } from './pod-defaults.ts';
import { nodeSelectorText } from './pod-text.ts';
import { replicaColumns, replicaStatusErrors } from './replica-sets.ts';
import { selects } from './selector-rules.ts';
import { runsForGood, templateErrors } from './template-rules.ts';
import { typed } from './types/typed.ts';

/** Without a selector or labels of its own it takes those of its template. */
function defaults(controller: KubeObject): KubeObject {
  const labels = fieldAt(controller, 'spec', 'template', 'metadata', 'labels');
  const own = isJsonObject(labels) && Object.keys(labels).length > 0 ? labels : undefined;
  const spec = mapField(controller, 'spec', (given) =>
    withDefaults(mapField(given, 'template', templateDefaults), { replicas: 1, ...(own ? { selector: own } : {}) }),
  );
  if (own === undefined || controller.metadata.labels !== undefined) return spec;
  return { ...spec, metadata: { ...spec.metadata, labels: own as Record<string, string> } };
}

function validate(controller: KubeObject): FieldError[] {
  const errors = notNegative(controller['spec'], 'spec', 'minReadySeconds');
  const selector = fieldAt(controller, 'spec', 'selector');
  if (!isJsonObject(selector)) errors.push(required('spec.selector', ''));
  errors.push(...notNegative(controller['spec'], 'spec', 'replicas'));
  const template = fieldAt(controller, 'spec', 'template');
  if (!isJsonObject(template)) return [...errors, required('spec.template', '')];
  const labels = fieldAt(template, 'metadata', 'labels');
  if (isJsonObject(selector) && selects({ matchLabels: selector }, labels) === false)
    errors.push(invalidShown('spec.template.metadata.labels', goTextMap(labels), '`selector` does not match template `labels`'));
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
  defaults,
  prepareCreate: (controller) => ({ ...controller, status: { replicas: 0 } }),
  validate,
  validateUpdate: (now, _old, { subresource }) => (subresource === 'status' ? replicaStatusErrors(now) : validate(now)),
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
  schema: typed('ReplicationController', 'A number of equal pods, before there were ReplicaSets.'),
};
