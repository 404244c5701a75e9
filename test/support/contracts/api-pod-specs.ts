import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../table.ts';
import { byRelease, inOwnNamespace, isRefused, said, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';

const lost = (key: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
const tolerations = [lost('not-ready'), lost('unreachable')];

const container = { name: 'c', image: 'example/i' };
const storedContainer = {
  ...container,
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
};
const storedSpec = {
  containers: [storedContainer],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  automountServiceAccountToken: false,
  securityContext: {},
  schedulerName: 'nobody',
  tolerations,
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

/** `c`: the fields of its one container besides name and image. */
type Spec = { c?: object };

const one = (fields: object) => ({ containers: [{ ...container, ...fields }] });

// Specs as `specOf` takes them; those that are stored have the fields of every pod besides.
const defaults = parse(`
- {why: says the least, spec: {}, is: {}}
- why: is probed
  spec: {c: {livenessProbe: {httpGet: {port: 80}}, ports: [{containerPort: 80}]}}
  is:
    c:
      livenessProbe:
        {httpGet: {path: /, port: 80, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
      ports: [{containerPort: 80, protocol: TCP}]
- why: limits itself
  spec: {c: {resources: {limits: {cpu: 1000m, memory: 1024Mi}}}}
  is: {c: {resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: '1', memory: 1Gi}}}}
- why: reads about itself
  spec:
    c:
      env:
      - {name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: B, value: ''}
      - {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
  is:
    c:
      env:
      - {name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
      - {name: B}
      - {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: '0'}}}
- why: mounts
  spec:
    volumes:
    - {name: a, configMap: {name: x}}
    - {name: b}
    - {name: c, hostPath: {path: /x}}
    - {name: d, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}
  is:
    volumes:
    - {name: a, configMap: {name: x, defaultMode: 420}}
    - {name: b, emptyDir: {}}
    - {name: c, hostPath: {path: /x, type: ''}}
    - {name: d, downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}], defaultMode: 420}}
- why: uses the network of its host
  spec: {hostNetwork: true, c: {ports: [{containerPort: 80}]}}
  is: {hostNetwork: true, c: {ports: [{hostPort: 80, containerPort: 80, protocol: TCP}]}}
- why: says nothing in many words
  spec:
    {terminationGracePeriodSeconds: 0, hostPID: false, shareProcessNamespace: false, tolerations: [], nodeSelector: {},
     c: {stdin: false, env: [], securityContext: {privileged: false}}}
  is: {terminationGracePeriodSeconds: 0, shareProcessNamespace: false, c: {securityContext: {privileged: false}}}
- {why: tolerates everything, spec: {tolerations: [{operator: Exists}]}, is: {tolerations: [{operator: Exists}]}}
- why: is critical
  spec: {priorityClassName: system-node-critical}
  is: {priorityClassName: system-node-critical, priority: 2000001000}
- {why: has an account, spec: {serviceAccountName: foo}, is: {serviceAccountName: foo, serviceAccount: foo}}
- {why: has fields that nobody knows, spec: {foo: 1, c: {bar: 2}}, is: {}}
`) as { why: string; spec: Spec; is: Spec }[];

const images = { 'r:5000/x': 'Always', 'x:latest': 'Always', 'x:1': 'IfNotPresent', [`x@sha256:${'0'.repeat(64)}`]: 'IfNotPresent' };

// Specs in YAML.
const refused = table('spec | says | today | code')(`
  {containers: []} | spec.containers: Required value | |
  {containers: [{name: c, image: example/i}, {name: c, image: example/i}]} | spec.containers[1].name: Duplicate value: "c" | |
  {initContainers: [{name: c, image: example/i}]} | spec.initContainers[0].name: Duplicate value: "c" | |
  {containers: [{name: c}]} | spec.containers[0].image: Required value | |
  {containers: [{image: i}]} | spec.containers[0].name: Required value | |
  {c: {name: C_}} | spec.containers[0].name: Invalid value: "C_": a lowercase RFC 1123 label must consist | |
  {c: {resources: {limits: {cpu: '1'}, requests: {cpu: '2'}}}}
    | spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit | |
  {c: {resources: {limits: {cpu: '-1'}}}} | resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0 | |
  {c: {resources: {limits: {foo: '1'}}}} | Invalid value: "foo": must be a standard resource type or fully qualified | |
  {c: {resources: {limits: {a.b/c: '2'}, requests: {a.b/c: '1'}}}}
    | spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.b/c limit | |
  {c: {ports: [{containerPort: 0}]}} | ports[0].containerPort: Required value | |
  {c: {ports: [{containerPort: 70000}]}} | Invalid value: 70000: must be between 1 and 65535, inclusive | |
  {c: {ports: [{containerPort: 80, protocol: X}]}} | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP" | |
  {c: {ports: [{containerPort: 82, hostPort: 5}, {containerPort: 83, hostPort: 5}]}}
    | spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5" | |
  {hostNetwork: true, c: {ports: [{containerPort: 80, hostPort: 81}]}}
    | containerPort: Invalid value: 80: must match ´hostPort´ when ´hostNetwork´ is true
    | hostPort: Invalid value: 81: must match ´containerPort´ when ´hostNetwork´ is true |
  {c: {volumeMounts: [{name: nope, mountPath: /x}]}} | spec.containers[0].volumeMounts[0].name: Not found: "nope" | |
  {volumes: [{name: x}, {name: x}]} | spec.volumes[1].name: Duplicate value: "x" | |
  {volumes: [{name: x, emptyDir: {}, hostPath: {path: /}}]} | hostPath: Forbidden: may not specify more than 1 volume type | |
  {restartPolicy: X} | spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never" | |
  {activeDeadlineSeconds: 0} | spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive | |
  {nodeSelector: {a b: c}} | spec.nodeSelector: Invalid value: "a b": name part must consist | |
  {tolerations: [{key: x, operator: X}]} | spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists" | |
  {tolerations: [{value: v}]} | operator must be Exists when ´key´ is empty, which means "match all values and all keys" | |
  {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}
    | nodeSelectorTerms: Required value: must have at least one node selector term | |
  {topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]}
    | spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero | |
  {priorityClassName: nope} | no PriorityClass with name nope was found | | 403
  {priority: 5}
    | the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name
    | | 403
`);

const kept =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
const keptToday =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

// `KEPT`: what may not change.
const changes = table('why | from | spec | says | today')(`
  image | | {c: {image: i2}} | |
  deadline | | {activeDeadlineSeconds: 5} | |
  later deadline | {activeDeadlineSeconds: 5} | {activeDeadlineSeconds: 9} | must be less than or equal to previous value |
  no deadline | {activeDeadlineSeconds: 5} | {activeDeadlineSeconds: null}
    | Invalid value: "null": must not update from a positive integer to nil value
    | Invalid value: null: must not update from a positive integer to nil value
  one more toleration | | {tolerations: [${[...tolerations.map((each) => JSON.stringify(each)), '{key: z, operator: Exists}'].join()}]} | |
  another command | | {c: {command: [x]}} | KEPT |
  another grace period | | {terminationGracePeriodSeconds: 5} | KEPT |
  a node | | {nodeName: x} | KEPT |
  another container | | {containers: [{name: c, image: example/i}, {name: d, image: x}]}
    | spec.containers: Forbidden: pod updates may not add or remove containers |
`);

function specOf({ c, ...others }: Spec, of: object = container): object {
  return { ...others, ...(c === undefined ? {} : { containers: [{ ...of, ...c }] }) };
}

const read = (yaml: string): object => specOf((parse(yaml) ?? {}) as Spec);

/** Pods: their defaults, admission and rules. */
export function podSpecContract(here: () => ContractWorld, release: ServerRelease): void {
  inOwnNamespace(here, 'pods', (own) => podsTests(here, own, release));
}

function podsTests(here: () => ContractWorld, own: () => string, release: ServerRelease): void {
  let made = 0;
  const path = () => `/api/v1/namespaces/${own()}/pods`;
  // A scheduler that runs beside leaves these pods alone.
  const base = { schedulerName: 'nobody', automountServiceAccountToken: false, containers: [container] };
  const create = (spec: object) => here().api.post(path(), { metadata: { name: `pod-${++made}` }, spec: { ...base, ...spec } });

  for (const { why, spec, is } of defaults) {
    test(`a pod that ${why} is stored with its defaults`, async () => {
      const { code, json } = await create(specOf(spec));
      assert.equal(code, 201, text(json['message']));
      assert.deepEqual(json['spec'], { ...storedSpec, ...specOf(is, storedContainer) });
      assert.equal(json['status']?.['phase'], 'Pending');
    });
  }

  test('an image is pulled by its tag', async () => {
    const containers = Object.keys(images).map((image, at) => ({ name: `c${at}`, image }));
    const { json } = await create({ containers });
    const policies = Object.values(json['spec']?.['containers'] ?? {}).map((one) => text(one['imagePullPolicy']));
    assert.deepEqual(policies, Object.values(images));
  });

  for (const [limits, requests, quality] of [
    [{}, {}, 'BestEffort'],
    [{ cpu: '1', memory: '1Gi' }, {}, 'Guaranteed'],
    [{ cpu: '1' }, {}, 'Burstable'],
    [{ cpu: '2', memory: '1Gi' }, { cpu: '1' }, 'Burstable'],
    [{ 'a.b/c': '1' }, {}, 'BestEffort'],
  ] as const) {
    test(`limits ${JSON.stringify(limits)} and requests ${JSON.stringify(requests)} are ${quality}`, async () => {
      assert.equal((await create(one({ resources: { limits, requests } }))).json['status']?.['qosClass'], quality);
    });
  }

  for (const { spec, code, ...row } of refused) {
    const says = said(release, row);
    test(`a pod is refused: ${says}`, async () => {
      isRefused(await create(read(spec)), Number(code || 422), says);
    });
  }

  for (const { why, from, spec, ...row } of changes) {
    const says = row.says === 'KEPT' ? byRelease(release, kept, keptToday) : said(release, row);
    test(`a pod ${says === '' ? 'takes' : 'does not take'} ${why}`, async () => {
      const { json } = await create(read(from));
      const { code, json: answer } = await here().api.patch(`${path()}/${text(json['metadata']?.['name'])}`, { spec: read(spec) });
      assert.equal(code, says === '' ? 200 : 422, text(answer['message']));
      assert.ok(text(answer['message'] ?? '').includes(says), text(answer['message']));
    });
  }

  test('a toleration that every pod has comes back', async () => {
    const { json } = await create({});
    const pod = `${path()}/${text(json['metadata']?.['name'])}`;
    const { code, json: answer } = await here().api.patch(pod, { spec: { tolerations: [] } });
    assert.equal(code, 200);
    assert.deepEqual(answer['spec']?.['tolerations'], tolerations);
  });

  test('the status of a pod changes nothing else', async () => {
    const { json } = await create({});
    const pod = `${path()}/${text(json['metadata']?.['name'])}`;
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const { json: answer } = await here().api.patch(`${pod}/status`, { spec: { nodeName: 'y' }, status });
    assert.equal(answer['spec']?.['nodeName'], undefined);
    assert.deepEqual(answer['status']?.['conditions'], [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }]);
    const running = await here().api.get(`${path()}?fieldSelector=status.phase%3DRunning`);
    assert.equal(Object.keys(running.json['items'] ?? {}).length, 1);
  });

  test('a pod is named by the server', async () => {
    const { json } = await here().api.post(path(), { metadata: { generateName: 'gen-' }, spec: base });
    assert.match(text(json['metadata']?.['name']), /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });
}
