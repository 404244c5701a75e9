import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { type FieldError, forbidden, invalidValue, notSupported, prohibited } from '../errors.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext, type Stored } from './kind.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';

const MAX_VALUE = 1_000_000_000;

/** Priority classes that exist from the start. */
export const systemPriorityClasses = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
] as const;

function validate(priority: KubeObject): FieldError[] {
  const name = priority.metadata.name ?? '';
  const value = Number(priority['value'] ?? 0);
  const system = systemPriorityClasses.find((one) => one.metadata.name === name);
  const errors: FieldError[] = [];
  if (name.startsWith('system-')) {
    const why =
      system === undefined ? `${name} is not a known system priority class` : `value of ${name} PriorityClass must be ${system.value}`;
    if (system?.value !== value)
      errors.push(
        prohibited('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`),
      );
  } else if (value > MAX_VALUE) errors.push(prohibited('value', `maximum allowed value of a user defined priority is ${MAX_VALUE}`));
  const policy = textAt(priority, 'preemptionPolicy');
  const policies = ['PreemptLowerPriority', 'Never'];
  if (!policies.includes(policy)) errors.push(notSupported('preemptionPolicy', policy, policies));
  return errors;
}

function unchanged(now: KubeObject, old: KubeObject): FieldError[] {
  // The capital letter is that of an older real server.
  const changed: FieldError = { ...prohibited('Value', 'may not be changed in an update.'), today: { field: 'value' } };
  const errors = now['value'] === old['value'] ? [] : [changed];
  if (now['preemptionPolicy'] !== old['preemptionPolicy'])
    errors.push(invalidValue('preemptionPolicy', now['preemptionPolicy'], 'field is immutable'));
  return errors;
}

/** @throws StatusError 403 if another class is already the default */
function onlyDefault(priority: KubeObject, { stored }: RuleContext): KubeObject {
  if (priority['globalDefault'] !== true) return priority;
  const name = priority.metadata.name ?? '';
  const other = stored
    .list('scheduling.k8s.io/priorityclasses')
    .objects.find((one) => one['globalDefault'] === true && one.metadata.name !== name);
  if (other === undefined) return priority;
  const why = `PriorityClass ${other.metadata.name ?? ''} is already marked as default. Only one default can exist`;
  throw forbidden({ group: 'scheduling.k8s.io', resource: 'priorityclasses' }, name, why);
}

export const priorityClasses: Kind = {
  resource: 'priorityclasses',
  singular: 'priorityclass',
  kind: 'PriorityClass',
  served: [{ group: 'scheduling.k8s.io', version: 'v1' }],
  namespaced: false,
  shortNames: ['pc'],
  nameProblems: dnsSubdomainProblems,
  defaults: (priority) => withDefaults(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
  // The generation never changes, since no field that increments it can change.
  prepareCreate: (priority, context) => onlyDefault({ ...priority, metadata: { ...priority.metadata, generation: 1 } }, context),
  prepareUpdate: (priority, _old, context) => onlyDefault(priority, context),
  validate,
  validateUpdate: (now, old) => unchanged(now, old),
  columns: [
    nameColumn,
    {
      name: 'Value',
      type: 'integer',
      description: 'Value of the priority; higher is more important.',
      cell: (priority) => Number(priority['value'] ?? 0),
    },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Whether it applies to pods without a priority class.',
      cell: (priority) => priority['globalDefault'] === true,
    },
    ageColumn,
    {
      name: 'PreemptionPolicy',
      since: 34,
      description: 'Whether its pods preempt others.',
      cell: (priority) => textAt(priority, 'preemptionPolicy'),
    },
  ],
  schema: typed('PriorityClass', 'Maps a name to a pod priority.'),
};

/*
 * Changes of pods by admission plugins that every cluster has: Priority and DefaultTolerationSeconds.
 */

const PRIORITY_CLASSES = 'scheduling.k8s.io/priorityclasses';

/** Sets the priority of the pod's class, or of the default class. @throws StatusError 403 for an unknown class, or a priority that differs from the class */
export function withPriority(pod: KubeObject, { stored }: RuleContext): KubeObject {
  const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
  const refuse = (why: string) => forbidden({ group: '', resource: 'pods' }, pod.metadata.name ?? '', why);
  const requested = textAt(spec, 'priorityClassName');
  const found = requested === '' ? defaultClass(stored) : stored.get(PRIORITY_CLASSES, requested);
  if (requested !== '' && found === undefined) throw refuse(`no PriorityClass with name ${requested} was found`);
  const priority = Number(fieldAt(found, 'value') ?? 0);
  const given = spec['priority'];
  if (given !== undefined && given !== priority) {
    throw refuse(
      `the integer value of priority (${textAt(spec, 'priority')}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const policy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  const own = textAt(spec, 'preemptionPolicy');
  if (own !== '' && own !== policy) {
    throw refuse(
      `the string value of PreemptionPolicy (${own}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  const name = found?.metadata.name ?? '';
  return { ...pod, spec: { ...spec, ...(name === '' ? {} : { priorityClassName: name }), priority, preemptionPolicy: policy } };
}

/** The default class for pods without a class; of several, the one with the lowest value. */
function defaultClass(stored: Stored): KubeObject | undefined {
  const defaults = stored.list(PRIORITY_CLASSES).objects.filter((one) => one['globalDefault'] === true);
  return defaults.sort((a, b) => Number(a['value']) - Number(b['value']))[0];
}

const tolerated = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Pods tolerate not-ready and unreachable nodes for five minutes unless they have such tolerations, as admission plugin DefaultTolerationSeconds does. */
export function withDefaultTolerations(spec: Record<string, unknown>): Record<string, unknown> {
  const own = listAt(spec, 'tolerations');
  const missing = tolerated.filter((key) => !own.some((one) => tolerates(one, key)));
  if (missing.length === 0) return spec;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  return { ...spec, tolerations: [...own, ...added] };
}

function tolerates(toleration: unknown, key: string): boolean {
  return ['', key].includes(textAt(toleration, 'key')) && ['', 'NoExecute'].includes(textAt(toleration, 'effect'));
}
