import { jsonEqual } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidShown, notSupportedShown, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext } from './kind.ts';
import { fieldAt, goIntOrText, goText, nodeSelectorText, textAt } from './metadata-rules.ts';
import { countOrPercent, isNothing, mapField, notAboveAll, notNegative, withDefaults } from './number-rules.ts';
import {
  containerColumns,
  countColumn,
  ownSelectorErrors,
  runsForGood,
  selectorColumn,
  selectorUnchanged,
  templateErrors,
  templateSelected,
} from './set-rules.ts';
import { templateDefaults } from './pod-defaults.ts';
import { typed } from './types/typed.ts';

/** maxSurge was added in 1.21 and enabled in 1.22. */
const SURGE = 22;

function defaults(set: KubeObject, { release }: RuleContext): KubeObject {
  const rolling = { maxUnavailable: 1, ...(release < SURGE ? {} : { maxSurge: 0 }) };
  return mapField(set, 'spec', (spec) => {
    const made = withDefaults(mapField(spec, 'template', templateDefaults), { updateStrategy: {}, revisionHistoryLimit: 10 });
    return mapField(made, 'updateStrategy', (given) => {
      const strategy = withDefaults(given, { type: 'RollingUpdate' });
      return textAt(strategy, 'type') === 'RollingUpdate'
        ? mapField(withDefaults(strategy, { rollingUpdate: {} }), 'rollingUpdate', (one) => withDefaults(one, rolling))
        : strategy;
    });
  });
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** Sets the annotation that counts changes of the template; it is older than revisions. */
function withTemplateGeneration(set: KubeObject, generation: number): KubeObject {
  const annotations = { ...set.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

function templateGeneration(set: KubeObject): number {
  const found = Number(set.metadata.annotations?.[TEMPLATE_GENERATION]);
  return Number.isSafeInteger(found) && found > 0 ? found : 1;
}

const noStatus = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

function prepareUpdate(set: KubeObject, old: KubeObject, context: RuleContext): KubeObject {
  if (context.subresource !== '') return set;
  const before = templateGeneration(old);
  const same = jsonEqual(fieldAt(defaults(set, context), 'spec', 'template'), fieldAt(old, 'spec', 'template'));
  return withTemplateGeneration(set, same ? before : before + 1);
}

function validate(set: KubeObject, { release }: RuleContext): FieldError[] {
  return [
    ...ownSelectorErrors(set, 'daemonset'),
    ...templateSelected(set),
    ...templateErrors(fieldAt(set, 'spec', 'template'), 'spec.template'),
    ...runsForGood(set, 'DaemonSet'),
    ...notNegative(set['spec'], 'spec', 'minReadySeconds'),
    ...strategyErrors(fieldAt(set, 'spec', 'updateStrategy'), release),
    ...notNegative(set['spec'], 'spec', 'revisionHistoryLimit'),
  ];
}

function strategyErrors(strategy: unknown, release: number): FieldError[] {
  const type = textAt(strategy, 'type');
  if (type === 'OnDelete') return [];
  if (type === 'RollingUpdate') return rollingErrors(fieldAt(strategy, 'rollingUpdate'), 'spec.updateStrategy.rollingUpdate', release);
  const shown = `apps.DaemonSetUpdateStrategy{Type:${goText(type)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}`;
  return [notSupportedShown('spec.updateStrategy', shown, ['RollingUpdate', 'OnDelete'], { Type: type, RollingUpdate: null })];
}

function rollingErrors(rolling: unknown, path: string, release: number): FieldError[] {
  const [down, up] = [fieldAt(rolling, 'maxUnavailable'), fieldAt(rolling, 'maxSurge')];
  const at = `${path}.maxUnavailable`;
  if (release < SURGE) {
    const none = isNothing(down) ? [invalidShown(at, goIntOrText(down), 'cannot be 0', down)] : [];
    return [...countOrPercent(down, at), ...none, ...notAboveAll(down, at)];
  }
  const errors = [down, up].flatMap((value, which) => {
    const field = which === 0 ? at : `${path}.maxSurge`;
    return [...countOrPercent(value, field), ...notAboveAll(value, field)];
  });
  if (isNothing(down) && isNothing(up)) errors.push(required(at, 'cannot be 0 when maxSurge is 0'));
  if (!isNothing(down) && !isNothing(up))
    errors.push(invalidShown(`${path}.maxSurge`, goIntOrText(up), 'may not be set when maxUnavailable is non-zero', up));
  return errors;
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export const daemonSets: Kind = {
  resource: 'daemonsets',
  singular: 'daemonset',
  kind: 'DaemonSet',
  served: [{ group: 'apps', version: 'v1' }],
  namespaced: true,
  shortNames: ['ds'],
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (set) => ({ ...withTemplateGeneration(set, templateGeneration(set)), status: noStatus }),
  prepareUpdate,
  validate,
  validateUpdate: (now, old, context) =>
    context.subresource === ''
      ? [...validate(now, context), ...selectorUnchanged(now, old)]
      : notNegative(now['status'], 'status', ...counts),
  columns: [
    nameColumn,
    countColumn('Desired', 'Nodes that should run it.', 'status', 'desiredNumberScheduled'),
    countColumn('Current', 'Nodes that run it.', 'status', 'currentNumberScheduled'),
    countColumn('Ready', 'Nodes whose pod is ready.', 'status', 'numberReady'),
    countColumn('Up-to-date', 'Nodes whose pod is of the latest template.', 'status', 'updatedNumberScheduled'),
    countColumn('Available', 'Nodes whose pod has been ready for long enough.', 'status', 'numberAvailable'),
    {
      name: 'Node Selector',
      description: 'Labels of the nodes it runs on.',
      cell: (set) => nodeSelectorText(fieldAt(set, 'spec', 'template', 'spec', 'nodeSelector')),
    },
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn,
  ],
  schema: typed('DaemonSet', 'A pod on each of its nodes.'),
};
