import type { KubeObject } from '../kube/api/object.ts';

type Schema = Readonly<Record<string, unknown>>;

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
const count = (description: string): Schema => ({ 'x-kubernetes-int-or-string': true, description, pattern: '^(100|[0-9]{1,2})%$' });
const duration = (description: string): Schema => text(description, { maxLength: 32, pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' });

const labelSelector: Schema = object('Nodes that the rollout takes its configuration to; {} selects every node.', {
  matchLabels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
  matchExpressions: list('Conditions that must hold as well.', 32, {
    type: 'object',
    required: ['key', 'operator'],
    properties: {
      key: { type: 'string', maxLength: 317 },
      operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
      values: { type: 'array', maxItems: 256, items: { type: 'string', maxLength: 63 } },
    },
  }),
});

const spec: Schema = object(
  'What is rolled out, to which nodes, and how fast.',
  {
    nodeSelector: labelSelector,
    configMap: object(
      'The ConfigMap that holds the kubelet configuration. Nodes are assigned an immutable copy of it.',
      {
        namespace: text('Namespace of the ConfigMap.', { minLength: 1, maxLength: 63 }),
        name: text('Name of the ConfigMap.', { minLength: 1 }),
        kubeletConfigKey: text('Key of the ConfigMap that holds the KubeletConfiguration.', { minLength: 1 }),
      },
      ['namespace', 'name', 'kubeletConfigKey'],
    ),
    steps: list('Stages, each counted from the first node. Default: 1, 10%, 50%, 100%.', 32, {
      type: 'object',
      required: ['nodes'],
      properties: {
        nodes: count('How many nodes have the configuration when the step is done: a number, or a percentage of those selected.'),
        hold: duration('How long the next step waits once every node of this one is settled. Default: 0s.'),
        approve: flag('The next step waits for dkc rollout approve.'),
      },
    }),
    maxUnavailable: count('Nodes in flight, draining or not Ready at once, for whatever reason. Default: 10%, at least 1.'),
    spreadBy: text('Label of nodes, such as topology.kubernetes.io/zone: one value of it at a time.', { maxLength: 317 }),
    failureBudget: count('Failed nodes that stop the rollout; a percentage is of the nodes touched. Default: 1.'),
    onFailure: { type: 'string', enum: ['Rollback', 'Pause'], description: 'What happens when it stops. Default: Rollback.' },
    nodeDeadline: duration('A node that is not settled for longer has failed. Default: 15m.'),
    drain: { type: 'string', enum: ['Auto', 'Never', 'Always'], description: 'Auto drains a node where the difference has a field that needs it. Default: Auto.' }, // prettier-ignore
    drainTimeout: duration('After it a node that is not drained is given back, and has failed. Default: 10m.'),
    drainPolicy: object('What a drain does with pods whose eviction loses something.', {
      unmanagedPods: { type: 'string', enum: ['Evict', 'Block'], description: 'Pods without a controller, which nothing creates again. Block: the drain fails and names them. Default: Block.' }, // prettier-ignore
      emptyDir: {
        type: 'string',
        enum: ['Evict', 'Block'],
        description: 'Pods with an emptyDir volume, whose data is lost. Default: Evict.',
      },
    }),
    windows: list('When nodes may be touched; none: always. Asked again before every node.', 32, {
      type: 'object',
      required: ['schedule', 'duration'],
      properties: {
        schedule: text('Start of the window: five cron fields.', { minLength: 1 }),
        duration: duration('Length of the window.'),
        timeZone: text('IANA name of the time zone. Default: UTC.'),
      },
    }),
    gates: list('All must hold before a node is touched, and while a step holds.', 16, {
      type: 'object',
      required: ['name'],
      properties: {
        name: text('Name of the gate.', { minLength: 1, maxLength: 63 }),
        prometheus: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'A PromQL query.' },
        alerts: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'No alert fires.' },
        object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'A condition of an object.' },
      },
    }),
    signature: object('Whether the payload must be signed.', { required: flag('It does not begin with an unsigned payload.') }),
    skipInvalidNodes: flag('Nodes whose kubelet would reject the configuration are left out. Without it none is touched then.'),
    paused: flag('No further node is touched.'),
    abortedRevision: text('Name of the revision that is taken back; dkc rollout abort sets it.'),
    attempt: whole('Raised, a stopped rollout tries the same revision again; dkc rollout resume does. Default: 1.', { minimum: 1 }),
    revisionHistoryLimit: whole('Copies that are kept for dkc rollout undo. Default: 10.', { maximum: 100 }),
  },
  ['nodeSelector', 'configMap'],
);

const phases = ['Pending', 'Progressing', 'Holding', 'Paused', 'Complete', 'RollingBack', 'RolledBack', 'Failed'];

const status: Schema = object('How far it has come.', {
  observedGeneration: { type: 'integer', format: 'int64', description: 'The generation of spec that this status speaks of.' },
  phase: { type: 'string', enum: phases, description: 'Where the rollout stands.' },
  revision: text('Name of the ConfigMap that nodes are assigned.'),
  previousRevision: text('The last complete revision, which nodes are taken back to. Absent: to their local configuration.'),
  stopped: { type: 'string', enum: ['Failures', 'Aborted'], description: 'Why it goes on no further.' },
  attempt: whole('Of spec, that this status speaks of.'),
  complete: flag('Every node had this revision; those that come later get it.'),
  step: whole('The step under way, from 1.'),
  stepSettledAt: time('Since when every node of this step is settled.'),
  nodes: object('Numbers of nodes.', {
    selected: whole('Selected by this rollout and by no older one.'),
    updated: whole('Assigned the revision.'),
    settled: whole('Use it, and are well.'),
    inFlight: whole('On the way.'),
    failed: whole('Rejected or undid it, or were not settled in time.'),
    refused: whole('Their kubelet would reject it.'),
  }),
  nextWindow: time('When the next window opens.'),
  waitsFor: text('What the rollout waits for, in one word. Absent: for nothing but nodes.'),
  failures: list('Nodes that failed, the oldest first.', 50, object('A failed node.', { node: text('Its name.'), error: text('What went wrong.', { maxLength: 1024 }), at: time('When.') }, ['node', 'error', 'at'])), // prettier-ignore
  approvals: list('Who let steps go on.', 50, object('An approval.', { step: whole('The step, from 1.'), revision: text('The revision.'), by: text('Who.', { maxLength: 1024 }), at: time('When.') }, ['step', 'revision', 'by', 'at'])), // prettier-ignore
  touches: object('Nodes that were touched last, written before they are.', {
    nodes: list('The nodes.', 1000, object('A node.', { node: text('Its name.'), revision: text('What it is assigned. Absent: its local configuration.'), at: time('When that was decided.') }, ['node', 'at'])), // prettier-ignore
    nodesVersion: text('The version of Nodes that it was decided on.'),
    nodeConfigsVersion: text('The version of NodeConfigs that it was decided on.'),
  }),
  message: text('For people.', { maxLength: 1024 }),
  conditions: {
    type: 'array',
    description: 'Progressing, Complete, Failed, Preflight, Conflict.',
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
  column('Phase', '.status.phase', 'Where the rollout stands'),
  column('Step', '.status.step', 'The step under way, from 1', { type: 'integer' }),
  column('Selected', '.status.nodes.selected', 'Nodes that it selects', { type: 'integer' }),
  column('Updated', '.status.nodes.updated', 'Nodes that are assigned the revision', { type: 'integer' }),
  column('Settled', '.status.nodes.settled', 'Nodes that use it and are well', { type: 'integer' }),
  column('Failed', '.status.nodes.failed', 'Nodes that failed', { type: 'integer' }),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  column('Revision', '.status.revision', 'ConfigMap that nodes are assigned', { priority: 1 }),
  column('Waits-For', '.status.waitsFor', 'What it waits for', { priority: 1 }),
  column('Message', '.status.message', 'For people', { priority: 1 }),
];

/** The CustomResourceDefinition of `NodeConfigRollout`: takes one kubelet configuration through nodes in stages. */
export function rolloutDefinition(): KubeObject {
  const schema = {
    type: 'object',
    description: 'Takes one kubelet configuration through the nodes that it selects, in stages.',
    required: ['spec'],
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec, status },
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
