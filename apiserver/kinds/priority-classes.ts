import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidValue, notSupported, prohibited } from '../field-error.ts';
import { forbidden } from '../status-error.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Kind, RuleContext } from './kind.ts';
import { textAt } from './metadata-rules.ts';
import { withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';

const MAX_VALUE = 1_000_000_000;

/** There from the start. */
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
  // The capital letter is the real server's.
  const errors = now['value'] === old['value'] ? [] : [prohibited('Value', 'may not be changed in an update.')];
  if (now['preemptionPolicy'] !== old['preemptionPolicy'])
    errors.push(invalidValue('preemptionPolicy', now['preemptionPolicy'], 'field is immutable'));
  return errors;
}

/** @throws StatusError 403 when another class is the default already */
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
  // Never counted up: nothing that matters can change.
  prepareCreate: (priority, context) => onlyDefault({ ...priority, metadata: { ...priority.metadata, generation: 1 } }, context),
  prepareUpdate: (priority, _old, context) => onlyDefault(priority, context),
  validate,
  validateUpdate: (now, old) => unchanged(now, old),
  columns: [
    nameColumn,
    {
      name: 'Value',
      type: 'integer',
      description: 'The priority; more is more important.',
      cell: (priority) => Number(priority['value'] ?? 0),
    },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Of pods that name no class.',
      cell: (priority) => priority['globalDefault'] === true,
    },
    ageColumn,
  ],
  schema: typed('PriorityClass', 'How important pods are.'),
};
