import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidShown, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext } from './kind.ts';
import { fieldAt, goIntOrText, goText, textAt } from './metadata-rules.ts';
import { countOrPercent, isNothing, mapField, mapItems, notAboveAll, notNegative, withDefaults } from './number-rules.ts';
import { claimDefaults } from './persistent-volumes.ts';
import { templateDefaults } from './pod-defaults.ts';
import {
  containerColumns,
  notAbove,
  ownSelectorErrors,
  runsForGood,
  scale,
  templateMetadataErrors,
  templateSelected,
} from './set-rules.ts';
import { typed } from './types/typed.ts';

const RETENTION = 27;
const AVAILABLE = 22;

function defaults(set: KubeObject, { release }: RuleContext): KubeObject {
  return mapField(set, 'spec', (given) => {
    let spec = withDefaults(mapField(given, 'template', templateDefaults), {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      updateStrategy: {},
    });
    spec = mapField(spec, 'updateStrategy', (strategy) => {
      // If the type is given without rollingUpdate, none is added.
      const named = textAt(strategy, 'type') === '' ? withDefaults(strategy, { type: 'RollingUpdate', rollingUpdate: {} }) : strategy;
      return textAt(named, 'type') === 'RollingUpdate'
        ? mapField(named, 'rollingUpdate', (rolling) => withDefaults(rolling, { partition: 0 }))
        : named;
    });
    spec = mapItems(spec, 'volumeClaimTemplates', claimTemplate);
    if (release < RETENTION) return spec;
    return mapField(withDefaults(spec, { persistentVolumeClaimRetentionPolicy: {} }), 'persistentVolumeClaimRetentionPolicy', (policy) =>
      withDefaults(policy, { whenDeleted: 'Retain', whenScaled: 'Retain' }),
    );
  });
}

function claimTemplate(given: unknown): unknown {
  const claim = mapField(withDefaults(given, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' }), 'spec', claimDefaults);
  return mapField(claim, 'status', (status) => withDefaults(status, { phase: 'Pending' }));
}

// As on a real server, the pod template itself is not validated: an invalid one fails when the controller creates a pod.
function validate(set: KubeObject): FieldError[] {
  const { spec } = set;
  const policy = textAt(spec, 'podManagementPolicy');
  const errors: FieldError[] = [];
  if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  errors.push(
    ...strategyErrors(fieldAt(spec, 'updateStrategy')),
    ...retentionErrors(fieldAt(spec, 'persistentVolumeClaimRetentionPolicy')),
  );
  errors.push(...notNegative(spec, 'spec', 'replicas', 'minReadySeconds'));
  errors.push(...notNegative(fieldAt(spec, 'ordinals'), 'spec.ordinals', 'start'));
  if (!isJsonObject(fieldAt(spec, 'selector'))) errors.push(required('spec.selector', ''));
  return [
    ...errors,
    ...ownSelectorErrors(set, 'statefulset'),
    ...templateSelected(set),
    ...templateMetadataErrors(fieldAt(spec, 'template'), 'spec.template'),
    ...runsForGood(set, 'StatefulSet'),
  ];
}

function strategyErrors(strategy: unknown): FieldError[] {
  const path = 'spec.updateStrategy.rollingUpdate';
  const rolling = fieldAt(strategy, 'rollingUpdate');
  const most = fieldAt(rolling, 'maxUnavailable');
  const type = textAt(strategy, 'type');
  switch (type) {
    case 'OnDelete': {
      if (rolling === undefined) return [];
      const shown = `apps.RollingUpdateStatefulSetStrategy{Partition:${textAt(rolling, 'partition') || '0'}}`;
      const json = { Partition: fieldAt(rolling, 'partition') ?? 0, MaxUnavailable: most ?? null };
      return [invalidShown(path, shown, "only allowed for updateStrategy 'RollingUpdate'", json)];
    }
    case 'RollingUpdate':
      return [
        ...notNegative(rolling, path, 'partition'),
        ...countOrPercent(most, `${path}.maxUnavailable`),
        ...(most !== undefined && isNothing(most) ? [invalidShown(`${path}.maxUnavailable`, goIntOrText(most), 'cannot be 0', most)] : []),
        ...notAboveAll(most, `${path}.maxUnavailable`),
      ];
    default: {
      const shown = `apps.StatefulSetUpdateStrategy{Type:${goText(type)}, RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}`;
      return [invalidShown('spec.updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'", { Type: type, RollingUpdate: null })];
    }
  }
}

function retentionErrors(policy: unknown): FieldError[] {
  if (policy === undefined) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((field) => {
    const value = textAt(policy, field);
    return ['Retain', 'Delete'].includes(value)
      ? []
      : [notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, value, ['Retain', 'Delete'])];
  });
}

// Mutable fields as listed in the message, by the first release with this list.
const changeable: readonly (readonly [since: number, fields: readonly string[]])[] = [
  [
    33,
    [
      'replicas',
      'ordinals',
      'template',
      'updateStrategy',
      'revisionHistoryLimit',
      'persistentVolumeClaimRetentionPolicy',
      'minReadySeconds',
    ],
  ],
  [27, ['replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds']],
  [23, ['replicas', 'template', 'updateStrategy', 'minReadySeconds']],
  [0, ['replicas', 'template', 'updateStrategy']],
];

function unchanged(now: KubeObject, old: KubeObject, release: number): FieldError[] {
  const [, fields = []] = changeable.find(([since]) => since <= release) ?? [];
  const fixed = ({ spec }: KubeObject) =>
    Object.fromEntries(Object.entries(isJsonObject(spec) ? spec : {}).filter(([field]) => !fields.includes(field)));
  if (jsonEqual(fixed(now), fixed(old))) return [];
  const quoted = fields.map((field) => `'${field}'`);
  const list = `${quoted.slice(0, -1).join(', ')}${release < 23 ? ',' : ''} and ${quoted.at(-1) ?? ''}`;
  return [prohibited('spec', `updates to statefulset spec for fields other than ${list} are forbidden`)];
}

function statusErrors(set: KubeObject, release: number): FieldError[] {
  const { status } = set;
  const counts = [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ];
  return [
    ...notNegative(status, 'status', ...counts),
    ...notAbove(status, 'replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas'),
    ...(release < AVAILABLE ? [] : notAbove(status, 'replicas', 'availableReplicas')),
    ...(release < AVAILABLE ? [] : notAbove(status, 'readyReplicas', 'availableReplicas')),
  ];
}

export const statefulSets: Kind = {
  resource: 'statefulsets',
  singular: 'statefulset',
  kind: 'StatefulSet',
  served: [{ group: 'apps', version: 'v1' }],
  namespaced: true,
  shortNames: ['sts'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (set, { release }) => ({ ...set, status: { replicas: 0, ...(release < AVAILABLE ? {} : { availableReplicas: 0 }) } }),
  validate,
  validateUpdate: (now, old, { subresource, release }) =>
    subresource === 'status' ? statusErrors(now, release) : [...validate(now), ...unchanged(now, old, release)],
  views: { scale },
  columns: [
    nameColumn,
    {
      name: 'Ready',
      description: 'Number of ready pods and desired number of pods.',
      cell: (set) => `${textAt(set, 'status', 'readyReplicas') || '0'}/${textAt(set, 'spec', 'replicas') || '0'}`,
    },
    ageColumn,
    ...containerColumns('spec', 'template'),
  ],
  schema: typed('StatefulSet', 'Pods with stable names and storage.'),
};
