/** Specs of rollouts, beside a good one, and what the definition says of them. */
export interface RolloutRow {
  spec: object;
  /** The field that is refused; absent: the spec is good. */
  refused?: string;
  /** In words, where the server evaluates CEL. @default none but the server's own */
  words?: string;
  /** Joins fields or takes a text apart: where CEL is not evaluated the controller says it. */
  isCel?: true;
}

const configMap = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
export const goodSpec = { nodeSelector: {}, configMap };

const prometheus = { url: 'http://prometheus.monitoring:9090', query: 'up == 0' };
const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', condition: 'Available' };
const gate = (of: object): object => ({ gates: [{ name: 'calm', ...of }] });
const selects = (of: object): object => ({ nodeSelector: { matchExpressions: [of] } });
const night = { schedule: '0 2 * * 1-5', duration: '3h' };
const window = (of: object): object => ({ windows: [{ ...night, ...of }] });

// prettier-ignore
export const rolloutRows: readonly RolloutRow[] = [
  { spec: {} },
  { spec: { steps: [{ nodes: 1, hold: '1h30m', approve: true }, { nodes: '100%', hold: '0s' }], maxUnavailable: '1%', failureBudget: 3, nodeDeadline: '168h', drainTimeout: '90s' } },
  { spec: { nodeSelector: { matchLabels: { 'node.example.com/pool': 'web_1' }, matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }, { key: 'c', operator: 'Exists' }, { key: 'd', operator: 'DoesNotExist', values: [] }] } } },
  { spec: { windows: [{ schedule: ' */5 1,2  * JAN-mar sun ', duration: '3h', timeZone: 'America/Argentina/Buenos_Aires' }, { ...night, timeZone: 'Etc/GMT+5' }] } },
  { spec: { gates: [{ name: 'a', prometheus: { ...prometheus, expect: 'nonZero' } }, { name: 'b', alerts: { url: 'https://h:1/x/', ignore: 'A|B', firingOnly: false } }, { name: 'c', object: { ...object, status: 'False' } }, { name: 'd', object: { ...object, apiVersion: 'v1', name: 'system:a..b', condition: 'example.com/Ready' } }] } },
  { spec: { spreadBy: 'topology.kubernetes.io/zone', attempt: 2, revisionHistoryLimit: 0, abortedRevision: 'web-1', drainPolicy: { emptyDir: 'Block' } } },
  { spec: { configMap: { ...configMap, kubeletConfigKey: '../x' } }, refused: 'spec.configMap.kubeletConfigKey', words: "must consist of alphanumeric characters, '-', '_' or '.'" },
  { spec: { configMap: { ...configMap, kubeletConfigKey: '..' } }, refused: 'spec.configMap.kubeletConfigKey', words: "must not be '..'" },
  { spec: { configMap: { ...configMap, name: 'a/b' } }, refused: 'spec.configMap.name', words: 'must be a DNS-1123 subdomain' },
  { spec: { steps: [] }, refused: 'spec.steps' },
  { spec: { steps: [{ nodes: 0 }] }, refused: 'spec.steps[0].nodes', words: 'greater than or equal to 1' },
  { spec: { steps: [{ nodes: 1, hold: '10 min' }] }, refused: 'spec.steps[0].hold', words: 'must be a duration such as 10m or 1h30m' },
  { spec: { steps: [{ nodes: 1, hold: '169h' }] }, refused: 'spec.steps[0].hold', words: 'must be at most 168h', isCel: true },
  { spec: { maxUnavailable: '101%' }, refused: 'spec.maxUnavailable' },
  { spec: { failureBudget: -1 }, refused: 'spec.failureBudget' },
  { spec: { spreadBy: 'a zone' }, refused: 'spec.spreadBy', words: 'must be the name of a label' },
  { spec: { nodeSelector: { matchLabels: { pool: 'a b' } } }, refused: 'spec.nodeSelector.matchLabels', words: 'must be a label value' },
  { spec: selects({ key: '-', operator: 'Exists' }), refused: 'spec.nodeSelector.matchExpressions[0].key', words: 'must be the name of a label' },
  { spec: selects({ key: 'a', operator: 'In' }), refused: 'spec.nodeSelector.matchExpressions[0]', words: 'In and NotIn need values' },
  { spec: selects({ key: 'a', operator: 'Exists', values: ['b'] }), refused: 'spec.nodeSelector.matchExpressions[0]', words: 'Exists and DoesNotExist have none' },
  { spec: window({ schedule: '@daily' }), refused: 'spec.windows[0].schedule', words: 'must have five cron fields' },
  { spec: window({ duration: '0s' }), refused: 'spec.windows[0].duration', words: 'must be more than 0s and at most 168h', isCel: true },
  { spec: window({ timeZone: '+01:00' }), refused: 'spec.windows[0].timeZone', words: 'must be the IANA name of a time zone' },
  { spec: gate({}), refused: 'spec.gates[0]', words: 'must have exactly one of prometheus, alerts, object' },
  { spec: { gates: [{ name: 'Calm', prometheus }] }, refused: 'spec.gates[0].name', words: 'must be a DNS-1123 label' },
  { spec: { gates: [{ name: 'calm', prometheus }, { name: 'calm', prometheus }] }, refused: 'spec.gates[1]', words: 'Duplicate value' },
  { spec: gate({ prometheus: { url: prometheus.url } }), refused: 'spec.gates[0].prometheus.query', words: 'Required value' },
  { spec: gate({ prometheus: { ...prometheus, url: 'http://me:secret@prometheus' } }), refused: 'spec.gates[0].prometheus.url', words: 'without credentials' },
  { spec: gate({ prometheus: { ...prometheus, expect: 'none' } }), refused: 'spec.gates[0].prometheus.expect', words: 'supported values' },
  { spec: gate({ object: { ...object, apiVersion: 'apps/v1/x' } }), refused: 'spec.gates[0].object.apiVersion', words: 'must be VERSION or GROUP/VERSION' },
  { spec: gate({ object: { ...object, name: '..' } }), refused: 'spec.gates[0].object.name', words: "must not be '.' or '..'" },
  { spec: gate({ object: { ...object, condition: 'is it ready' } }), refused: 'spec.gates[0].object.condition', words: 'must be the type of a condition' },
];
