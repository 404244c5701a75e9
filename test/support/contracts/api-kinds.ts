import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../table.ts';
import { byRelease, exchangesOf, isRefused, said, type Here } from './contract-world.ts';
import { text } from '../api-http.ts';

// NS is the namespace. Bodies are YAML.
const kinds: Readonly<Record<string, string>> = {
  pods: '/api/v1/namespaces/NS/pods',
  daemonsets: '/apis/apps/v1/namespaces/NS/daemonsets',
  statefulsets: '/apis/apps/v1/namespaces/NS/statefulsets',
  replicasets: '/apis/apps/v1/namespaces/NS/replicasets',
  claims: '/api/v1/namespaces/NS/persistentvolumeclaims',
  volumes: '/api/v1/persistentvolumes',
  budgets: '/apis/POLICY/namespaces/NS/poddisruptionbudgets',
  priorities: '/apis/scheduling.k8s.io/v1/priorityclasses',
  storage: '/apis/storage.k8s.io/v1/storageclasses',
  nodes: '/api/v1/nodes',
};

const container = { name: 'c', image: 'example/i' };
const storedContainer = { ...container, resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }; // prettier-ignore
const lost = (key: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
const tolerations = [lost('not-ready'), lost('unreachable')];
const storedTemplate = { containers: [storedContainer], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst', securityContext: {}, schedulerName: 'nobody' }; // prettier-ignore
const storedPod = { ...storedTemplate, automountServiceAccountToken: false, tolerations, priority: 0, enableServiceLinks: true, preemptionPolicy: 'PreemptLowerPriority' }; // prettier-ignore

// A scheduler that runs beside leaves these pods alone.
const podSpec = { schedulerName: 'nobody', containers: [container] };
const set = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: podSpec } };
/** What each spec of a kind has before the fields of a row. */
const base: Readonly<Record<string, object>> = {
  pods: { ...podSpec, automountServiceAccountToken: false },
  daemonsets: set,
  statefulsets: { ...set, serviceName: 'x', replicas: 0 },
  replicasets: { ...set, replicas: 0 },
};
const storedBase: Readonly<Record<string, object>> = {
  pods: storedPod,
  daemonsets: { selector: set.selector, revisionHistoryLimit: 10 },
  statefulsets: { selector: set.selector, serviceName: 'x', replicas: 0, podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 },
  replicasets: { selector: set.selector, replicas: 0 },
};

/** `c: FIELDS` in a spec of a pod are those of its one container besides name and image. */
const withContainer = ({ c, ...others }: { c?: object }, of: object): object => ({
  ...others,
  ...(c && { containers: [{ ...of, ...c }] }),
});
const specOf = (yaml: string): object => withContainer((parse(yaml) ?? {}) as object, container);
const bodyOf = (of: string, yaml: string): object => {
  if (base[of] === undefined) return parse(yaml) as object;
  return { spec: { ...base[of], ...specOf(yaml) } };
};

// The fields of the spec; of kinds without a spec here, of the object. Two pods are wrong in many ways: all mistakes are told at once.
const stored = table('of | given | is | today')(`
  daemonsets | {} | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}} | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}
  daemonsets | {updateStrategy: {type: OnDelete}} | {updateStrategy: {type: OnDelete}} | {}
  statefulsets | {} | {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}} | {}
  statefulsets | {updateStrategy: {type: RollingUpdate}, ordinals: {start: 2}, minReadySeconds: 3} | {updateStrategy: {type: RollingUpdate}} | {ordinals: {start: 2}, minReadySeconds: 3}
  replicasets | {} | {} | {}
  pods | {} | {} | {}
  pods | {c: {livenessProbe: {httpGet: {port: 80}}, ports: [{containerPort: 80}]}}
    | {c: {livenessProbe: {httpGet: {path: /, port: 80, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}, ports: [{containerPort: 80, protocol: TCP}]}} | {}
  pods | {c: {resources: {limits: {cpu: 1000m, memory: 1024Mi}}}} | {c: {resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: '1', memory: 1Gi}}}} | {}
  pods | {c: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: ''}]}} | {c: {env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}, {name: B}]}} | {}
  pods | {volumes: [{name: a, configMap: {name: x}}, {name: b}, {name: c, hostPath: {path: /x}}]} | {volumes: [{name: a, configMap: {name: x, defaultMode: 420}}, {name: b, emptyDir: {}}, {name: c, hostPath: {path: /x, type: ''}}]} | {}
  pods | {hostNetwork: true, c: {ports: [{containerPort: 80}]}} | {hostNetwork: true, c: {ports: [{hostPort: 80, containerPort: 80, protocol: TCP}]}} | {}
  pods | {terminationGracePeriodSeconds: 0, hostPID: false, nodeSelector: {}, c: {stdin: false, env: []}} | {terminationGracePeriodSeconds: 0} | {}
  pods | {tolerations: [{operator: Exists}]} | {tolerations: [{operator: Exists}]} | {}
  pods | {priorityClassName: system-node-critical} | {priorityClassName: system-node-critical, priority: 2000001000} | {}
  pods | {serviceAccountName: foo, unknown: 1} | {serviceAccountName: foo, serviceAccount: foo} | {}
  claims | {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}} | {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}} | {}
  volumes | {spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, storageClassName: none}}
    | {spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x, type: ''}, storageClassName: none, persistentVolumeReclaimPolicy: Retain, volumeMode: Filesystem}} | {}
  budgets | {spec: {minAvailable: 50%}} | {spec: {minAvailable: 50%}} | {}
  priorities | {value: 10} | {value: 10, preemptionPolicy: PreemptLowerPriority} | {}
  storage | {provisioner: x/y} | {provisioner: x/y, reclaimPolicy: Delete, volumeBindingMode: Immediate} | {}
`);

// Parts of one message, between them &.
const refused = table('of | given | says')(`
  daemonsets | {template: {metadata: {labels: {x: y}}, spec: {schedulerName: nobody, restartPolicy: Never, containers: []}}, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 150%}}}
    | spec.template.metadata.labels: Invalid value: & ´selector´ does not match template ´labels´ & spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always" & spec.template.spec.containers: Required value & must not be greater than 100%
  daemonsets | {selector: {}} | spec.selector: Invalid value: & empty selector is invalid for daemonset
  daemonsets | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0}}} | spec.updateStrategy.rollingUpdate.maxUnavailable: & cannot be 0
  daemonsets | {updateStrategy: {type: X}} | spec.updateStrategy: Unsupported value: & supported values: "RollingUpdate", "OnDelete"
  daemonsets | {selector: {matchExpressions: [{key: a, operator: Foo}]}} | spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator
  statefulsets | {replicas: -1, podManagementPolicy: X, updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}
    | spec.replicas: Invalid value: -1: must be greater than or equal to 0 & spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel' & spec.updateStrategy.rollingUpdate: Invalid value: & only allowed for updateStrategy 'RollingUpdate'
  statefulsets | {selector: null} | spec.selector: Required value
  replicasets | {template: {metadata: {labels: {x: y}}, spec: {containers: []}}} | ´selector´ does not match template ´labels´
  pods | {containers: [{name: c, image: i}, {name: c, image: i}, {name: d}, {image: i}, {name: C_, image: i}], initContainers: [{name: c, image: i}], volumes: [{name: x}, {name: x}, {name: y, emptyDir: {}, hostPath: {path: /}}]}
    | spec.containers[1].name: Duplicate value: "c" & spec.containers[2].image: Required value & spec.containers[3].name: Required value & spec.containers[4].name: Invalid value: "C_": a lowercase RFC 1123 label must consist & spec.initContainers[0].name: Duplicate value: "c" & spec.volumes[1].name: Duplicate value: "x" & hostPath: Forbidden: may not specify more than 1 volume type
  pods | {c: {resources: {limits: {cpu: '1', memory: '-1', foo: '1', a.b/c: '2'}, requests: {cpu: '2', a.b/c: '1'}}, volumeMounts: [{name: nope, mountPath: /x}], ports: [{containerPort: 0}, {containerPort: 70000}, {containerPort: 80, protocol: X}, {containerPort: 82, hostPort: 5}, {containerPort: 83, hostPort: 5}]}}
    | spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit & resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0 & Invalid value: "foo": must be a standard resource type or fully qualified & Invalid value: "1": must be equal to a.b/c limit & spec.containers[0].volumeMounts[0].name: Not found: "nope" & ports[0].containerPort: Required value & Invalid value: 70000: must be between 1 and 65535, inclusive & Unsupported value: "X": supported values: "SCTP", "TCP", "UDP" & ports[4].hostPort: Duplicate value: "TCP//5"
  pods | {containers: [], restartPolicy: X, activeDeadlineSeconds: 0, nodeSelector: {a b: c}, tolerations: [{key: x, operator: X}, {value: v}], topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}
    | spec.containers: Required value & spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never" & spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive & spec.nodeSelector: Invalid value: "a b": name part must consist & spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists" & operator must be Exists when ´key´ is empty & spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero & nodeSelectorTerms: Required value: must have at least one node selector term
  pods | {hostNetwork: true, c: {ports: [{containerPort: 80, hostPort: 81}]}} | when ´hostNetwork´ is true
  claims | {spec: {}} | spec.accessModes: Required value: at least 1 access mode is required & spec.resources[storage]: Required value
  volumes | {spec: {}} | spec: Required value: must specify a volume type
  budgets | {spec: {minAvailable: 1, maxUnavailable: 150%}} | minAvailable and maxUnavailable cannot be both set & must not be greater than 100%
  priorities | {value: 1000000001} | value: Forbidden: maximum allowed value of a user defined priority is 1000000000
  nodes | {spec: {taints: [{key: a b, effect: X}, {key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}}
    | metadata.taints[0].key: Invalid value: "a b": name part must & Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute" & metadata.taints[2]: Duplicate value: & taints must be unique by key and effect pair
`);

const kept = 'spec: Forbidden: pod updates may not change fields other than ´spec.containers[*].image´';
// `from` has good fields, `change` is a patch of it; without `says` it is taken.
const fixed = table('of | from | change | says')(`
  daemonsets | {} | {spec: {selector: {matchLabels: {a: b, c: d}}, template: {metadata: {labels: {c: d}}}}} | spec.selector: Invalid value: & field is immutable
  replicasets | {} | {spec: {selector: {matchLabels: {a: b, c: d}}, template: {metadata: {labels: {c: d}}}}} | spec.selector: Invalid value: & field is immutable
  statefulsets | {} | {spec: {serviceName: y, podManagementPolicy: Parallel}} | spec: Forbidden: updates to statefulset spec for fields other than 'replicas',
  pods | {} | {spec: {containers: [{name: c, image: i2}]}} |
  pods | {} | {spec: {activeDeadlineSeconds: 5}} |
  pods | {activeDeadlineSeconds: 5} | {spec: {activeDeadlineSeconds: 9}} | must be less than or equal to previous value
  pods | {activeDeadlineSeconds: 5} | {spec: {activeDeadlineSeconds: null}} | must not update from a positive integer to nil value
  pods | {} | {spec: {tolerations: [${[...tolerations.map((each) => JSON.stringify(each)), '{key: z, operator: Exists}'].join()}]}} |
  pods | {} | {spec: {terminationGracePeriodSeconds: 5}} | ${kept}
  pods | {} | {spec: {nodeName: x}} | ${kept}
  pods | {} | {spec: {containers: [{name: c, image: i}, {name: d, image: x}]}} | spec.containers: Forbidden: pod updates may not add or remove containers
  claims | {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}} | {spec: {accessModes: [ReadWriteMany]}} | spec: Forbidden: spec is immutable after creation except resources.requests
`);

/** What is particular to one kind: defaults, rules, subresources. */
export function kindContract(here: Here): void {
  const exchange = exchangesOf(here);
  let made = 0;
  const path = (of: string) =>
    (kinds[of] ?? '').replace('NS', here().namespace).replace('POLICY', byRelease(here().release, 'policy/v1beta1', 'policy/v1'));
  const create = (of: string, body: object) => here().api.post(path(of), { metadata: { name: `${here().namespace}-${++made}` }, ...body });
  const remove = (of: string, name: unknown) => here().api.delete(`${path(of)}/${text(name)}`);

  for (const { of, given, is, today } of stored)
    test(`one of ${of} is stored with its defaults: ${given}`, async () => {
      const { release } = here();
      const { code, json } = await create(of, bodyOf(of, given));
      assert.equal(code, 201, text(json['message']));
      const { metadata, kind: _kind, apiVersion: _version, status, ...rest } = json;
      await remove(of, metadata?.['name']);
      const wanted = withContainer({ ...(parse(is) as object), ...byRelease(release, {}, parse(today) as object) }, storedContainer);
      if (base[of] === undefined) return assert.deepEqual(rest, wanted);
      // Servers of today leave a time that is not set out.
      const labels = byRelease<object>(release, { creationTimestamp: null, labels: { a: 'b' } }, { labels: { a: 'b' } });
      const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } };
      const more = of === 'pods' ? {} : { template: { metadata: labels, spec: storedTemplate } };
      const modern = of === 'statefulsets' ? byRelease<object>(release, {}, retention) : {};
      assert.deepEqual(rest['spec'], { ...storedBase[of], ...more, ...modern, ...wanted });
      if (of !== 'pods') assert.equal(metadata?.['generation'], 1);
      else assert.equal(status?.['phase'], 'Pending');
      return undefined;
    });

  for (const { of, given, says } of refused)
    test(`one of ${of} is refused: ${given}`, async () => {
      const answer = await create(of, bodyOf(of, given));
      for (const part of says.split(' & ')) isRefused(answer, 422, said(here().release, part));
    });

  for (const { of, from, change, says } of fixed)
    test(`one of ${of} ${says === '' ? 'takes' : 'does not take'} the change ${change}`, async () => {
      const { json } = await create(of, bodyOf(of, from));
      const name = text(json['metadata']?.['name']);
      const answer = await here().api.patch(`${path(of)}/${name}`, parse(change));
      if (says === '') assert.equal(answer.code, 200, answer.text);
      else for (const part of says.split(' & ')) isRefused(answer, 422, said(here().release, part));
      await remove(of, name);
    });

  exchange('pods have the priority of their class, of the one default class without one, and no other')(`
    POST /apis/scheduling.k8s.io/v1/priorityclasses | {metadata: {name: NS-default}, value: 7, globalDefault: true} | 201 |
    POST /apis/scheduling.k8s.io/v1/priorityclasses | {metadata: {name: NS-second}, value: 8, globalDefault: true} | 403 | is already marked as default. Only one default can exist
    POST PODS | {metadata: {name: of-default}, spec: {schedulerName: nobody, automountServiceAccountToken: false, containers: [{name: c, image: i}]}} | 201 | {spec: {priorityClassName: NS-default, priority: 7}}
    DELETE /apis/scheduling.k8s.io/v1/priorityclasses/NS-default | | 200 |
    POST PODS | {metadata: {name: x}, spec: {priorityClassName: nope, automountServiceAccountToken: false, containers: [{name: c, image: i}]}} | 403 | no PriorityClass with name nope was found
    POST PODS | {metadata: {name: x}, spec: {priority: 5, automountServiceAccountToken: false, containers: [{name: c, image: i}]}} | 403 | the integer value of priority (5) must not be provided in pod spec
    PATCH PODS/of-default | {spec: {tolerations: []}} | 200 | {spec: {tolerations: [{key: node.kubernetes.io/not-ready}, {key: node.kubernetes.io/unreachable}]}}
  `);

  const sets =
    'spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {schedulerName: nobody, containers: [{name: c, image: i}]}}';
  exchange('only a new spec is a new generation, and a new template is counted once more')(`
    POST APPS/daemonsets | {metadata: {name: generations, finalizers: [example.com/hold]}, ${sets}, updateStrategy: {type: OnDelete}}} | 201 | {metadata: {generation: 1, annotations: {deprecated.daemonset.template.generation: '1'}}}
    PATCH APPS/daemonsets/generations | {metadata: {labels: {x: y}}} | 200 | {metadata: {generation: 1}}
    PATCH APPS/daemonsets/generations | {spec: {minReadySeconds: 1}} | 200 | {metadata: {generation: 2, annotations: {deprecated.daemonset.template.generation: '1'}}}
    PATCH APPS/daemonsets/generations | {spec: {template: {metadata: {annotations: {x: y}}}}} | 200 | {metadata: {generation: 3, annotations: {deprecated.daemonset.template.generation: '2'}}}
    PATCH APPS/daemonsets/generations/status | {spec: {minReadySeconds: 9}} | 200 | {metadata: {generation: 3}, spec: {minReadySeconds: 1}}
    DELETE APPS/daemonsets/generations | | 200 | {metadata: {generation: 4}}
    DELETE APPS/daemonsets/generations | | 200 | {metadata: {generation: 4}}
    PATCH APPS/daemonsets/generations | {metadata: {finalizers: null}} | 200 |
  `);

  exchange('a StatefulSet stores claim templates as claims, is scaled through its scale, and counts no more ready pods than there are')(`
    POST APPS/statefulsets | {metadata: {name: scaled}, ${sets}, serviceName: x, replicas: 0, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}]}} | 201
      | {spec: {volumeClaimTemplates: [{kind: PersistentVolumeClaim, apiVersion: v1, metadata: {name: d}, spec: {resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}, status: {phase: Pending}}]}}
    GET APPS/statefulsets/scaled/scale | | 200 | {kind: Scale, apiVersion: autoscaling/v1, metadata: {uid: UID1}, spec: {replicas: null}, status: {selector: a=b}}
    PATCH APPS/statefulsets/scaled/scale | {spec: {replicas: -4}} | 422 | spec.replicas: Invalid value: -4: must be greater
    PATCH APPS/statefulsets/scaled/scale | {metadata: {resourceVersion: '1'}, spec: {replicas: 1}} | 409 |
    PATCH APPS/statefulsets/scaled/scale | {spec: {replicas: 0}} | 200 | {spec: {replicas: null}}
    PATCH APPS/statefulsets/scaled/status | {status: {replicas: 1, readyReplicas: 2}} | 422 | status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas
    DELETE APPS/statefulsets/scaled | | 200 |
  `);

  test('the data of a revision is for life, in the words in which it came; its number and labels are not', async () => {
    const { api, namespace } = here();
    const revisions = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    const data = '{"a":{"$patch":"replace","x":null,"y":1},"b":[]}';
    const body = { metadata: { name: 'r' }, revision: 1, data: JSON.parse(data) as object };
    assert.equal(JSON.stringify((await api.post(revisions, body)).json['data']), data);
    assert.equal((await api.patch(`${revisions}/r`, { metadata: { labels: { a: 'b' } }, revision: 2 })).code, 200);
    assert.equal((await api.put(`${revisions}/r`, { ...body, revision: 3 })).code, 200);
    for (const other of [{ a: 2 }, { b: [], a: { y: 1, x: null, $patch: 'replace' } }]) {
      const refusal = await api.put(`${revisions}/r`, { ...body, data: other });
      isRefused(refusal, 422, /data: Invalid value: .*: field is immutable$/);
    }
    const strategic = { type: 'application/strategic-merge-patch+json' };
    assert.equal((await api.patch(`${revisions}/r`, { metadata: { labels: { c: 'd' } } }, strategic)).code, 200);
    assert.equal(JSON.stringify((await api.get(`${revisions}/r`)).json['data']), data);
    isRefused(await api.post(revisions, { metadata: { name: 's' }, revision: 1 }), 422, /data: Required value: data is mandatory$/);
  });
}
