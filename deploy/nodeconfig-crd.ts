import type { KubeObject } from '../kube/api/object.ts';

/** One node of a structural schema. */
export type Schema = Readonly<Record<string, unknown>>;

export interface NodeConfigDefinitionOptions {
  /**
   * Whether the rules of `spec` are written in CEL, with the messages that upstream had for `Node.spec.configSource`. Servers from 1.28 on support all of
   * these; older ones reject or drop them. Without CEL, the same rules are patterns and lengths.
   */
  cel: boolean;
}

/** Patterns of DNS-1123 names, and of the keys of a ConfigMap. */
export const LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** Not `.`, not `..`, and not starting with `..`. */
const KEY = '^\\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$';

export interface Rule {
  rule: string;
  message: string;
  reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid';
}

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
export const validations = (rules: readonly Rule[]): Schema => ({ 'x-kubernetes-validations': rules });

const matches = (pattern: string, message: string): Rule => ({ rule: `self == '' || self.matches(r'${pattern}')`, message });
const isSet = (field: string): Rule => ({ rule: `self != ''`, message: `${field} must be set`, reason: 'FieldValueRequired' });

/** What `spec.configMap` may hold, by field: its text, its limits, and its rules in either form. */
const fields: readonly { name: string; description: string; maxLength: number; pattern: string; cel: readonly Rule[] }[] = [
  {
    name: 'namespace',
    description: 'Namespace of the ConfigMap.',
    maxLength: 63,
    pattern: LABEL,
    cel: [isSet('namespace'), matches(LABEL, 'must be a DNS-1123 label of at most 63 characters')],
  },
  {
    name: 'name',
    description: 'Name of the ConfigMap.',
    maxLength: 253,
    pattern: SUBDOMAIN,
    cel: [isSet('name'), matches(SUBDOMAIN, 'must be a DNS-1123 subdomain of at most 253 characters')],
  },
  {
    name: 'kubeletConfigKey',
    description: 'Key of the ConfigMap that holds the KubeletConfiguration.',
    maxLength: 253,
    pattern: KEY,
    cel: [
      isSet('kubeletConfigKey'),
      matches('^[-._a-zA-Z0-9]+$', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"),
      { rule: "self != '.'", message: "must not be '.'" },
      { rule: "self != '..'", message: "must not be '..'" },
      { rule: "self == '..' || !self.startsWith('..')", message: "must not start with '..'" },
    ],
  },
];

/** Fields that only a status may have. They are in the schema so that a server rejects them instead of pruning them. */
const forbidden = ['uid', 'resourceVersion'] as const;

/** The ConfigMap that a spec names. @param more - further members */
export function configMapSchema(
  description: string,
  { cel }: NodeConfigDefinitionOptions,
  more: Readonly<Record<string, Schema>> = {},
): Schema {
  const own = fields.map(({ name, description: of, maxLength, pattern, cel: rules }) => [
    name,
    text(of, { maxLength, ...(cel ? validations(rules) : { minLength: 1, pattern }) }),
  ]);
  return { type: 'object', description, required: fields.map(({ name }) => name), properties: { ...Object.fromEntries(own), ...more } };
}

function specSchema({ cel }: NodeConfigDefinitionOptions): Schema {
  const configMap = configMapSchema(
    'The ConfigMap that holds the kubelet configuration of this node. If absent, the node uses its local configuration.',
    { cel },
    Object.fromEntries(
      forbidden.map((name) => {
        const message = `${name} must not be set in spec`;
        const rule: Rule = { rule: "self == ''", message, reason: 'FieldValueForbidden' };
        return [name, text(`Forbidden: ${message}.`, cel ? { maxLength: 253, ...validations([rule]) } : { maxLength: 0 })];
      }),
    ),
  );
  return { type: 'object', description: 'The desired configuration of this node.', properties: { configMap } };
}

function sourceSchema(description: string): Schema {
  const names = [...fields.map(({ name }) => name), ...forbidden];
  return {
    type: 'object',
    description: `${description} If absent, the local configuration.`,
    properties: {
      configMap: {
        type: 'object',
        required: names,
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string', minLength: 1, maxLength: 253 }])),
      },
    },
  };
}

const conditions: Schema = {
  type: 'array',
  description:
    'Synced: the node uses the configuration in spec. Healthy: its kubelet is healthy. Trusted: the configuration in use has passed its trial. ' +
    'Drifted: the kubelet does not run the configuration that the agent wrote.',
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
};

const statusSchema: Schema = {
  type: 'object',
  description: 'The state of the configuration, as reported by the agent of this node.',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64', description: 'The generation of spec that this status describes.' },
    assigned: sourceSchema('The configuration saved on the node, used from the next start of the agent on.'),
    active: sourceSchema('The configuration that the kubelet uses now.'),
    lastKnownGood: sourceSchema('The configuration that the node falls back to.'),
    error: text('Why the node does not use the configuration in spec; the log of the agent has the details.', { maxLength: 1024 }),
    trial: {
      type: 'object',
      description: 'The running trial of the configuration in use. Absent if there is none.',
      required: ['endsAt'],
      properties: { endsAt: { type: 'string', format: 'date-time', description: 'When the trial ends if the kubelet stays healthy.' } },
    },
    agentVersion: text('Version of the agent.', { maxLength: 253 }),
    kubeletVersion: text('Version of the kubelet, as its Node reports it.', { maxLength: 253 }),
    conditions,
  },
};

const column = (name: string, jsonPath: string, description: string, more: Schema = {}): Schema => ({
  name,
  type: 'string',
  jsonPath,
  description,
  ...more,
});
const conditionPath = (type: string): string => `.status.conditions[?(@.type=="${type}")].status`;

const additionalPrinterColumns: readonly Schema[] = [
  column('Assigned', '.status.assigned.configMap.name', 'ConfigMap that is assigned to the node; empty: local configuration'),
  column('Active', '.status.active.configMap.name', 'ConfigMap that the kubelet uses; empty: local configuration'),
  column('Trusted', conditionPath('Trusted'), 'Whether the active configuration has passed its trial'),
  column('Healthy', conditionPath('Healthy'), 'Whether the kubelet is healthy'),
  column('Error', '.status.error', 'Why the node does not use the assigned configuration'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  column('Wanted', '.spec.configMap.name', 'ConfigMap in spec; empty: local configuration', { priority: 1 }),
  column('Kubelet', '.status.kubeletVersion', 'Version of the kubelet', { priority: 1 }),
];

/**
 * The CustomResourceDefinition of `NodeConfig`: how a node gets its assignment from API servers that drop `Node.spec.configSource`. The object has the name
 * of its Node.
 */
export function nodeConfigDefinition(options: NodeConfigDefinitionOptions): KubeObject {
  const schema = {
    type: 'object',
    description: 'Assigns a kubelet configuration to the node of the same name.',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: specSchema(options),
      status: statusSchema,
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'nodeconfigs.dkc.dev' },
    spec: {
      group: 'dkc.dev',
      scope: 'Cluster',
      names: { plural: 'nodeconfigs', singular: 'nodeconfig', kind: 'NodeConfig', listKind: 'NodeConfigList', shortNames: ['nc'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns,
        },
      ],
    },
  };
}
