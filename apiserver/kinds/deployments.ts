import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, invalidValue, notSupportedShown, prohibited, required } from '../field-error.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import { goIntOrText, goText } from './go-text.ts';
import type { Kind } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';
import { countOrPercent, isNothing, mapField, notAboveAll, notNegative, withDefaults } from './number-rules.ts';
import { templateDefaults } from './pod-defaults.ts';
import { replicaTemplateErrors } from './replica-sets.ts';
import { scale } from './scale.ts';
import { containerColumns, countColumn, notAbove, ownSelectorErrors, selectorColumn, selectorUnchanged } from './template-rules.ts';
import { typed } from './types/typed.ts';

/** Stored only: kube-controller-manager's deployment controller makes ReplicaSets of them. */
function defaults(deployment: KubeObject): KubeObject {
  return mapField(deployment, 'spec', (given) => {
    const spec = withDefaults(mapField(given, 'template', templateDefaults), {
      replicas: 1,
      strategy: {},
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    return mapField(spec, 'strategy', (one) => {
      const strategy = withDefaults(one, { type: 'RollingUpdate' });
      return textAt(strategy, 'type') === 'RollingUpdate'
        ? mapField(withDefaults(strategy, { rollingUpdate: {} }), 'rollingUpdate', (rolling) =>
            withDefaults(rolling, { maxUnavailable: '25%', maxSurge: '25%' }),
          )
        : strategy;
    });
  });
}

function validate(deployment: KubeObject): FieldError[] {
  const { spec } = deployment;
  const errors = notNegative(spec, 'spec', 'replicas');
  if (!isJsonObject(fieldAt(spec, 'selector'))) errors.push(required('spec.selector', ''));
  errors.push(
    ...ownSelectorErrors(deployment, 'deployment'),
    ...replicaTemplateErrors(deployment, 'ReplicaSet'),
    ...strategyErrors(fieldAt(spec, 'strategy')),
    ...notNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
  );
  const deadline = fieldAt(spec, 'progressDeadlineSeconds');
  if (typeof deadline === 'number' && deadline <= Number(fieldAt(spec, 'minReadySeconds') ?? 0))
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  return errors;
}

function strategyErrors(strategy: unknown): FieldError[] {
  const path = 'spec.strategy.rollingUpdate';
  const rolling = fieldAt(strategy, 'rollingUpdate');
  const type = textAt(strategy, 'type');
  switch (type) {
    case 'Recreate':
      return rolling === undefined ? [] : [prohibited(path, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate': {
      const [down, up] = [fieldAt(rolling, 'maxUnavailable'), fieldAt(rolling, 'maxSurge')];
      const none = isNothing(down) && isNothing(up);
      return [
        ...countOrPercent(down, `${path}.maxUnavailable`),
        ...countOrPercent(up, `${path}.maxSurge`),
        ...(none ? [invalidShown(`${path}.maxUnavailable`, goIntOrText(down), 'may not be 0 when `maxSurge` is 0')] : []),
        ...notAboveAll(down, `${path}.maxUnavailable`),
      ];
    }
    default: {
      const shown = `apps.DeploymentStrategy{Type:${goText(type)}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}`;
      return [notSupportedShown('spec.strategy', shown, ['Recreate', 'RollingUpdate'])];
    }
  }
}

function statusErrors({ status }: KubeObject): FieldError[] {
  const counts = [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'collisionCount',
  ];
  return [
    ...notNegative(status, 'status', ...counts),
    ...notAbove(status, 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'),
    ...notAbove(status, 'readyReplicas', 'availableReplicas'),
  ];
}

export const deployments: Kind = {
  resource: 'deployments',
  singular: 'deployment',
  kind: 'Deployment',
  served: [{ group: 'apps', version: 'v1' }],
  namespaced: true,
  shortNames: ['deploy'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (deployment) => ({ ...deployment, status: {} }),
  validate,
  validateUpdate: (now, old, { subresource }) =>
    subresource === 'status' ? statusErrors(now) : [...validate(now), ...selectorUnchanged(now, old)],
  views: { scale },
  columns: [
    nameColumn,
    {
      name: 'Ready',
      description: 'Pods that are ready, of all there should be.',
      cell: ({ spec, status }) => `${textAt(status, 'readyReplicas') || '0'}/${textAt(spec, 'replicas') || '0'}`,
    },
    { ...countColumn('Up-to-date', 'Pods of the latest template.', 'status', 'updatedReplicas'), type: 'string' },
    { ...countColumn('Available', 'Pods that have been ready for long enough.', 'status', 'availableReplicas'), type: 'string' },
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn,
  ],
  schema: typed('Deployment', 'Equal pods that are replaced bit by bit.'),
};
