import type { KubeObject } from '../kube/api/object.ts';
import { configMapSchema, LABEL, type NodeConfigDefinitionOptions, type Rule, type Schema, validations } from './nodeconfig-crd.ts';

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', maxLength: 253, description, ...more });
const flag = (description: string): Schema => ({ type: 'boolean', description });
const whole = (description: string, more: Schema = {}): Schema => ({ type: 'integer', format: 'int32', minimum: 0, description, ...more });
const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
const list = (description: string, maxItems: number, items: Schema): Schema => ({ type: 'array', description, maxItems, items });
const object = (description: string, properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  description,
  ...(required.length === 0 ? {} : { required }),
  properties,
});
const count = (description: string): Schema => ({
  'x-kubernetes-int-or-string': true,
  description,
  minimum: 0,
  pattern: '^0*(100|[0-9]{1,2})%$',
});
/** At least one node: a step without nodes would be a pause, which is a separate field. */
const countOfStep = (description: string): Schema => ({ ...count(description), minimum: 1, pattern: '^0*(100|[1-9][0-9]?)%$' });

const DURATION = '^([0-9]{1,9}(\\.[0-9]{1,9})?(ms|s|m|h))+$';
/** Patterns of a name with a prefix, such as a label's key, and of a label's value. */
const QUALIFIED = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
const LABEL_VALUE = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
const API_VERSION = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
/** Pattern of one segment of a path. */
const SEGMENT = '^(\\.{0,2}[^./%][^/%]*|\\.{3}[^/%]*)$';
const SCHEDULE = '^ *[-A-Za-z0-9*,/]+( +[-A-Za-z0-9*,/]+){4} *$';
const ZONE = '^[A-Za-z][A-Za-z0-9_+/-]*$';
const URL = '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@ ]+(/[^?# ]*)?$';

/** `spec`. On servers without CEL, the controller validates rules that combine fields or parse a text. */
function specSchema(options: NodeConfigDefinitionOptions): Schema {
  const { cel } = options;
  /** Text of some form: with CEL the message describes the form. */
  const shaped = (pattern: string, message: string): Schema =>
    cel ? validations([{ rule: `self.matches(r'${pattern}')`, message }]) : { pattern };
  const duration = (description: string, { least = '0s' } = {}): Schema => {
    const form = 'must be a duration such as 10m or 1h30m';
    const range: Rule = {
      rule: `!self.matches(r'${DURATION}') || (duration(self) ${least === '0s' ? '>=' : '>'} duration('0s') && duration(self) <= duration('168h'))`,
      message: least === '0s' ? 'must be at most 168h' : 'must be more than 0s and at most 168h',
    };
    const shape = cel ? validations([{ rule: `self.matches(r'${DURATION}')`, message: form }, range]) : { pattern: DURATION };
    return text(description, { maxLength: 32, ...shape });
  };
  const labelKey = shaped(QUALIFIED, 'must be the name of a label, such as pool or topology.kubernetes.io/zone');
  const labelValue: Schema = { type: 'string', maxLength: 63, ...shaped(LABEL_VALUE, 'must be a label value: letters, digits, -, _ and ., beginning and ending with a letter or digit') }; // prettier-ignore
  const label63 = shaped(LABEL, 'must be a DNS-1123 label of at most 63 characters');
  const url = text('Base of the server, such as http://prometheus.monitoring:9090.', {
    maxLength: 2048,
    ...shaped(URL, 'must be an http or https URL without credentials, query and fragment, such as http://prometheus.monitoring:9090'),
  });

  const labelSelector: Schema = object('Selects the nodes that get the configuration; {} selects every node.', {
    matchLabels: { type: 'object', maxProperties: 64, additionalProperties: labelValue },
    matchExpressions: list('Requirements on labels; all must be met, together with matchLabels.', 32, {
      type: 'object',
      required: ['key', 'operator'],
      properties: {
        key: { type: 'string', maxLength: 317, ...labelKey },
        operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
        values: { type: 'array', maxItems: 256, items: labelValue },
      },
      ...(cel
        ? validations([
            {
              rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
              message: 'In and NotIn need values, Exists and DoesNotExist have none',
            },
          ])
        : {
            anyOf: [
              { required: ['values'], properties: { operator: { enum: ['In', 'NotIn'] }, values: { minItems: 1 } } },
              { properties: { operator: { enum: ['Exists', 'DoesNotExist'] }, values: { maxItems: 0 } } },
            ],
          }),
    }),
  });

  /** Unknown members of a gate are kept, so that the controller rejects them: if a mistyped `expect` were pruned, the gate would pass when it should hold. */
  const gate = (description: string, properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
    ...object(description, properties, required),
    'x-kubernetes-preserve-unknown-fields': true,
  });
  const gateSchema: Schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: text('Name of the gate.', { minLength: 1, maxLength: 63, ...label63 }),
      prometheus: gate(
        'Passes if the result of a PromQL query is as expected.',
        {
          url,
          query: text('PromQL query.', { minLength: 1, maxLength: 4096 }),
          expect: { type: 'string', enum: ['empty', 'nonEmpty', 'nonZero'], description: 'What the result must be. Default: empty.' },
        },
        ['url', 'query'],
      ),
      alerts: gate(
        'Passes while no alert fires in a Prometheus.',
        {
          url,
          ignore: text('Regular expression for names of alerts that do not count.', { minLength: 1, maxLength: 1024 }),
          firingOnly: flag('Whether pending alerts do not count. Default: true.'),
        },
        ['url'],
      ),
      object: gate(
        'Passes if an object has a condition with the expected status.',
        {
          apiVersion: text(
            'VERSION or GROUP/VERSION of the object.',
            shaped(API_VERSION, 'must be VERSION or GROUP/VERSION, such as v1 or apps/v1'),
          ),
          kind: text('Kind of the object.', {
            maxLength: 63,
            ...shaped('^[A-Z][A-Za-z0-9]*$', 'must be the name of a kind, such as Deployment'),
          }),
          namespace: text('Namespace of the object, for a namespaced kind.', { maxLength: 63, ...label63 }),
          name: text('Name of the object.', shaped(SEGMENT, "must not be '.' or '..', or hold '/' or '%'")),
          condition: text('Type of the condition.', shaped(QUALIFIED, 'must be the type of a condition, such as Available')),
          status: { type: 'string', enum: ['True', 'False', 'Unknown'], description: 'What the condition must be. Default: True.' },
        },
        ['apiVersion', 'kind', 'name', 'condition'],
      ),
    },
    ...(cel
      ? validations([
          {
            rule: '[has(self.prometheus), has(self.alerts), has(self.object)].filter(given, given).size() == 1',
            message: 'must have exactly one of prometheus, alerts, object',
          },
        ])
      : { oneOf: ['prometheus', 'alerts', 'object'].map((one) => ({ required: [one] })) }),
  };

  return object(
    'The configuration to roll out, the nodes that get it, and the pace.',
    {
      nodeSelector: labelSelector,
      configMap: configMapSchema(
        'The ConfigMap that holds the kubelet configuration. The controller assigns an immutable copy of it to nodes.',
        options,
      ),
      steps: {
        minItems: 1,
        ...list(
          'The steps of the rollout; their numbers of nodes are cumulative. Nodes beyond the last step come after its hold and approval. Default: 1, 10%, 50%, 100%.',
          32,
          {
            type: 'object',
            required: ['nodes'],
            properties: {
              nodes: countOfStep(
                'Number of nodes that have the configuration when the step is done, or a percentage of the selected nodes.',
              ),
              hold: duration('Wait between the moment when every node of this step is settled and the next step. Default: 0s.'),
              approve: flag('Whether the next step waits for dkc rollout approve. Default: false.'),
            },
          },
        ),
      },
      maxUnavailable: count(
        'Maximum number of selected nodes that are in flight, draining or not Ready at once, for any reason. Default: 10%, at least 1.',
      ),
      spreadBy: text(
        'Node label, such as topology.kubernetes.io/zone; nodes in flight at once all have the same value of it. Default: none.',
        { maxLength: 317, ...labelKey },
      ),
      failureBudget: count(
        'Number of failed nodes that stops the rollout, or a percentage of the nodes touched so far; at least 1. Default: 1.',
      ),
      onFailure: {
        type: 'string',
        enum: ['Rollback', 'Pause'],
        description:
          'What happens when failures stop the rollout: Rollback returns its nodes to the previous revision, Pause leaves them as they are. Default: Rollback.',
      },
      nodeDeadline: duration('A node that is not settled within this time has failed. Default: 15m.'),
      drain: { type: 'string', enum: ['Auto', 'Never', 'Always'], description: 'Whether a node is drained before it is changed; Auto: if a field that changes needs it. Default: Auto.' }, // prettier-ignore
      drainTimeout: duration('A node that is not drained within this time is uncordoned and has failed. Default: 10m.'),
      drainPolicy: object('Whether a drain evicts pods whose eviction loses the pod or its data.', {
        unmanagedPods: { type: 'string', enum: ['Evict', 'Block'], description: 'Pods without a controller, which nothing creates again after an eviction. Block: the drain fails and names them. Default: Block.' }, // prettier-ignore
        emptyDir: {
          type: 'string',
          enum: ['Evict', 'Block'],
          description:
            'Pods with an emptyDir volume, whose data an eviction deletes. Block: the drain fails and names them. Default: Evict.',
        },
      }),
      windows: list('Times at which nodes may be touched, checked before every node. Default: always.', 32, {
        type: 'object',
        required: ['schedule', 'duration'],
        properties: {
          schedule: text('Start of the window as five cron fields: minute, hour, day of month, month, day of week.', {
            minLength: 1,
            ...shaped(SCHEDULE, 'must have five cron fields: minute, hour, day of month, month and day of week, such as 0 2 * * 1-5'),
          }),
          duration: duration('Length of the window.', { least: '1ns' }),
          timeZone: text(
            'IANA name of the time zone. Default: UTC.',
            shaped(ZONE, 'must be the IANA name of a time zone, such as Europe/Berlin'),
          ),
        },
      }),
      gates: {
        ...list('Checks that must all pass before a node is touched, and during the hold of a step.', 16, gateSchema),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      signature: object('Whether the configuration must be signed.', {
        required: flag('Whether the rollout waits until the ConfigMap has a signature (dkc sign). Default: false.'),
      }),
      skipInvalidNodes: flag(
        'Whether nodes whose kubelet would reject the configuration are skipped. If false, one such node keeps the rollout from touching any node. Default: false.',
      ),
      paused: flag('Whether the rollout is paused: no further node is touched. Default: false.'),
      abortedRevision: text('Name of the revision to roll back; set by dkc rollout abort.'),
      attempt: whole(
        'A higher number makes a stopped rollout try the same revision again; raised by dkc rollout resume --retry. Default: 1.',
        { minimum: 1 },
      ),
      revisionHistoryLimit: whole(
        'Number of earlier revisions (copies of the ConfigMap) that are kept for dkc rollout undo. Default: 10.',
        {
          maximum: 100,
        },
      ),
    },
    ['nodeSelector', 'configMap'],
  );
}

const phases = ['Pending', 'Progressing', 'Holding', 'Paused', 'Complete', 'RollingBack', 'RolledBack', 'Failed'];

const status: Schema = object('The progress of the rollout.', {
  observedGeneration: { type: 'integer', format: 'int64', description: 'The generation of spec that this status describes.' },
  phase: { type: 'string', enum: phases, description: 'Phase of the rollout.' },
  revision: text('Name of the current revision: the copy of the ConfigMap that nodes are assigned.'),
  previousRevision: text('The last complete revision, which a rollback returns nodes to. If absent, to their local configuration.'),
  stopped: { type: 'string', enum: ['Failures', 'Aborted'], description: 'Why the rollout has stopped.' },
  attempt: whole('The value of spec.attempt that this status describes.'),
  attemptAt: time('When this attempt began. Absent for the first one.'),
  complete: flag('Whether every node has had this revision; nodes that join later get it.'),
  step: whole('Number of the current step, counted from 1.'),
  stepSettledAt: time('When every node of the current step was settled.'),
  nodes: object('Number of nodes by state.', {
    selected: whole('Nodes that this rollout selects and no older rollout does.'),
    updated: whole('Nodes that are assigned the revision.'),
    settled: whole('Nodes that use the revision, which passed its trial, and are Ready.'),
    inFlight: whole('Nodes that are assigned the revision and not settled yet.'),
    failed: whole('Nodes that rejected the revision, rolled it back, or were not settled within spec.nodeDeadline.'),
    refused: whole('Nodes whose kubelet would reject the revision.'),
  }),
  nextWindow: time('When the next window opens.'),
  waitsFor: text('What the rollout waits for, in one word. Absent if it waits only for nodes.'),
  failures: list('Nodes that failed, the oldest first.', 50, object('A failed node.', { node: text('Name of the node.'), error: text('Why the node failed.', { maxLength: 1024 }), at: time('When the node failed.') }, ['node', 'error', 'at'])), // prettier-ignore
  approvals: list('Approvals of steps.', 50, object('An approval.', { step: whole('Number of the approved step, counted from 1.'), revision: text('Name of the approved revision.'), by: text('User who approved the step.', { maxLength: 1024 }), at: time('When the step was approved.') }, ['step', 'revision', 'by', 'at'])), // prettier-ignore
  touches: object('The last decisions of the controller, recorded before it writes the nodes.', {
    nodes: list('Nodes to write.', 1000, object('A node.', { node: text('Name of the node.'), revision: text('Revision to assign. If absent, the local configuration.'), at: time('When the controller decided it.') }, ['node', 'at'])), // prettier-ignore
    nodesVersion: text('Resource version of the Nodes that the decision was based on.'),
    nodeConfigsVersion: text('Resource version of the NodeConfigs that the decision was based on.'),
  }),
  message: text('The progress in one human-readable line.', { maxLength: 1024 }),
  conditions: {
    type: 'array',
    description: 'Conditions of the rollout: Progressing, Complete, Failed, Preflight, Conflict.',
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
      properties: {
        type: { type: 'string', maxLength: 316 },
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
        lastTransitionTime: { type: 'string', format: 'date-time' },
        reason: { type: 'string', minLength: 1, maxLength: 1024 },
        message: { type: 'string', maxLength: 32_768 },
      },
    },
  },
});

const column = (name: string, jsonPath: string, description: string, more: Schema = {}): Schema => ({
  name,
  type: 'string',
  jsonPath,
  description,
  ...more,
});

const additionalPrinterColumns: readonly Schema[] = [
  column('Phase', '.status.phase', 'Phase of the rollout'),
  column('Step', '.status.step', 'Number of the current step, counted from 1', { type: 'integer' }),
  column('Selected', '.status.nodes.selected', 'Nodes that the rollout selects', { type: 'integer' }),
  column('Updated', '.status.nodes.updated', 'Nodes that are assigned the revision', { type: 'integer' }),
  column('Settled', '.status.nodes.settled', 'Nodes that use the revision, which passed its trial, and are Ready', { type: 'integer' }),
  column('Failed', '.status.nodes.failed', 'Nodes that failed', { type: 'integer' }),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  column('Revision', '.status.revision', 'Copy of the ConfigMap that nodes are assigned', { priority: 1 }),
  column('Waits-For', '.status.waitsFor', 'What the rollout waits for', { priority: 1 }),
  column('Message', '.status.message', 'The progress in one line', { priority: 1 }),
];

/** The CustomResourceDefinition of `NodeConfigRollout`, which rolls out one kubelet configuration to nodes in stages. */
export function rolloutDefinition(options: NodeConfigDefinitionOptions): KubeObject {
  const schema = {
    type: 'object',
    description: 'Rolls out one kubelet configuration to the nodes that it selects, step by step.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: specSchema(options),
      status,
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'nodeconfigrollouts.dkc.dev' },
    spec: {
      group: 'dkc.dev',
      scope: 'Cluster',
      names: {
        plural: 'nodeconfigrollouts',
        singular: 'nodeconfigrollout',
        kind: 'NodeConfigRollout',
        listKind: 'NodeConfigRolloutList',
        shortNames: ['ncr'],
      },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} }, additionalPrinterColumns }], // prettier-ignore
    },
  };
}
