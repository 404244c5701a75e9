import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../table.ts';
import { byRelease, inOwnNamespace, isRefused, said, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';

// NS is the namespace; in tables, bodies are YAML. `stored` is what the fields besides metadata become; `today` has what servers of 1.36 add to that, or say instead.
const kinds = {
  claims: '/api/v1/namespaces/NS/persistentvolumeclaims',
  volumes: '/api/v1/persistentvolumes',
  services: '/api/v1/namespaces/NS/services',
  controllers: '/api/v1/namespaces/NS/replicationcontrollers',
  budgets: '/apis/POLICY/namespaces/NS/poddisruptionbudgets',
  priorities: '/apis/scheduling.k8s.io/v1/priorityclasses',
  storage: '/apis/storage.k8s.io/v1/storageclasses',
  nodes: '/apis/storage.k8s.io/v1/csinodes',
  drivers: '/apis/storage.k8s.io/v1/csidrivers',
  attachments: '/apis/storage.k8s.io/v1/volumeattachments',
  roles: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  bindings: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
  clusterRoles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
} as const;
type Of = keyof typeof kinds;

const good = parse(`
- of: claims
  body: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
  stored: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}}
- of: volumes
  body: {spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, storageClassName: none}}
  stored:
    spec:
      {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x, type: ''}, storageClassName: none,
       persistentVolumeReclaimPolicy: Retain, volumeMode: Filesystem}
- of: services
  body: {spec: {clusterIP: None, ports: [{port: 80, name: x, targetPort: web}, {port: 81, name: y}]}}
  stored:
    spec:
      ports: [{name: x, protocol: TCP, port: 80, targetPort: web}, {name: y, protocol: TCP, port: 81, targetPort: 81}]
      clusterIP: None
      clusterIPs: [None]
      type: ClusterIP
      sessionAffinity: None
    status: {loadBalancer: {}}
  # Without a selector it may have endpoints of either family.
  today: {spec: {internalTrafficPolicy: Cluster, ipFamilies: [IPv4, IPv6], ipFamilyPolicy: RequireDualStack}}
- {of: budgets, body: {spec: {minAvailable: 50%}}, stored: {spec: {minAvailable: 50%}}}
- {of: priorities, body: {value: 10}, stored: {value: 10, preemptionPolicy: PreemptLowerPriority}}
- {of: storage, body: {provisioner: x/y}, stored: {provisioner: x/y, reclaimPolicy: Delete, volumeBindingMode: Immediate}}
- {of: nodes, body: {spec: {drivers: []}}, stored: {spec: {drivers: null}}}
- of: drivers
  body: {spec: {}}
  stored:
    spec: {attachRequired: true, podInfoOnMount: false, volumeLifecycleModes: [Persistent], fsGroupPolicy: ReadWriteOnceWithFSType}
  today: {spec: {requiresRepublish: false, seLinuxMount: false, storageCapacity: false}}
- {of: roles, body: {rules: []}, stored: {rules: null}}
- of: bindings
  body:
    roleRef: {kind: Role, name: r}
    subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: n}]
  stored:
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
    subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: u}, {kind: ServiceAccount, name: s, namespace: n}]
`) as { of: Of; body: object; stored: object; today?: object }[];

const refused = table('of | body | says | today')(`
  claims | {spec: {}} | spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value |
  volumes | {spec: {}} | spec: Required value: must specify a volume type |
  volumes | {spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: null, local: {path: /x}}}
    | spec.nodeAffinity: Required value: Local volume requires node affinity |
  services | {spec: {}} | spec.ports: Required value |
  services | {spec: {ports: [{port: 80}, {port: 81}]}} | spec.ports[0].name: Required value |
  controllers | {spec: {replicas: -1}}
    | spec.selector: Required value, spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.template: Required value |
  budgets | {spec: {minAvailable: 1, maxUnavailable: 1}} | minAvailable and maxUnavailable cannot be both set |
  budgets | {spec: {minAvailable: 150%}} | must not be greater than 100% |
  priorities | {value: 1000000001} | value: Forbidden: maximum allowed value of a user defined priority is 1000000000 |
  priorities | {metadata: {name: system-x}, value: 1}
    | priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class |
  storage | {provisioner: x, reclaimPolicy: X} | reclaimPolicy: Unsupported value: "X": supported values: "Delete", "Retain" |
  nodes | {spec: {drivers: [{name: a, nodeID: x}, {name: a, nodeID: y}]}} | spec.drivers[1].name: Duplicate value: "a" |
  attachments | {spec: {attacher: a, nodeName: n, source: {}}}
    | spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName |
  roles | {rules: [{nonResourceURLs: [/x], verbs: [get]}]}
    | rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs
    | rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs
  roles | {rules: [{apiGroups: [''], resources: [pods], verbs: []}]} | rules[0].verbs: Required value: verbs must contain at least one value
    |
  bindings | {roleRef: {apiGroup: rbac.authorization.k8s.io, kind: X, name: r}}
    | roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole" |
`);

const fixed = table('of | body | change | says | today')(`
  claims | {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}} | {spec: {accessModes: [ReadWriteMany]}}
    | spec: Forbidden: spec is immutable after creation except resources.requests for bound claims
    | spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims
  volumes | {spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}} | {spec: {hostPath: {path: /y}}}
    | spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation |
  services | {spec: {ports: [{port: 80}]}} | {spec: {clusterIP: None, clusterIPs: [None]}}
    | spec.clusterIPs[0]: Invalid value: []string{"None"}: may not change once set
    | spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set
  priorities | {value: 10} | {value: 11} | Value: Forbidden: may not be changed in an update.
    | value: Forbidden: may not be changed in an update.
  storage | {provisioner: x} | {provisioner: y} | provisioner: Forbidden: updates to provisioner are forbidden.
    | provisioner: Invalid value: "y": field is immutable
  nodes | {spec: {drivers: [{name: d, nodeID: n}]}} | {spec: {drivers: [{name: d, nodeID: m}]}} | field is immutable |
  bindings | {roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}} | {roleRef: {name: y}}
    | roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"Role", Name:"y"}: cannot change roleRef
    | roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: cannot change roleRef
`);

/** Storage, policy, priorities and roles: their defaults and rules. */
export function clusterKindContract(here: () => ContractWorld, release: ServerRelease): void {
  inOwnNamespace(here, 'kinds', (own) => {
    let made = 0;
    const path = (of: Of) => kinds[of].replace('NS', own()).replace('POLICY', byRelease(release, 'policy/v1beta1', 'policy/v1'));
    const create = (of: Of, body: object) => {
      const metadata = { name: `${own()}-${++made}` };
      return here().api.post(path(of), { metadata, ...body });
    };
    const remove = async (of: Of, name: unknown) => {
      await here().api.delete(`${path(of)}/${text(name)}`);
    };

    for (const { of, body, stored: then, today = {} } of good) {
      const stored = byRelease(release, then, merged(then, today));
      test(`one of ${of} is stored with its defaults: ${JSON.stringify(body)}`, async () => {
        const { code, json } = await create(of, body);
        assert.equal(code, 201, text(json['message']));
        const { metadata, kind: _kind, apiVersion: _version, status, ...rest } = json;
        assert.deepEqual('status' in stored ? { ...rest, status } : rest, stored);
        await remove(of, metadata?.['name']);
      });
    }

    for (const { of, body, ...row } of refused) {
      const says = said(release, row);
      test(`one of ${of} is refused: ${says}`, async () => {
        isRefused(await create(of as Of, parse(body) as object), 422, says);
      });
    }

    for (const { of, body, change, ...row } of fixed) {
      const says = said(release, row);
      test(`one of ${of} does not change: ${says}`, async () => {
        const { json } = await create(of as Of, parse(body) as object);
        const name = json['metadata']?.['name'];
        isRefused(await here().api.patch(`${path(of as Of)}/${text(name)}`, parse(change)), 422, says);
        await remove(of as Of, name);
      });
    }

    test('taints of a node are held to their words, one for each effect', async () => {
      const { api } = here();
      const says = async (...taints: object[]): Promise<string> => {
        const { code, json } = await api.post('/api/v1/nodes?dryRun=All', { metadata: { name: 'tainted' }, spec: { taints } });
        return code === 201 ? '' : text(json['message']);
      };
      const taint = { key: 'a', effect: 'NoSchedule' };
      assert.equal(await says(taint, { ...taint, effect: 'NoExecute' }), '');
      assert.match(await says({ ...taint, key: 'a b' }), /metadata\.taints\[0\]\.key: Invalid value: "a b": name part must/);
      assert.match(
        await says({ ...taint, effect: 'X' }),
        /\.effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"$/,
      );
      const twice = await says(taint, taint);
      const value = byRelease(release, 'core.Taint{Key:"a",', '{"Key":"a",');
      assert.ok(twice.includes(`metadata.taints[1]: Duplicate value: ${value}`), twice);
      assert.match(twice, /: taints must be unique by key and effect pair$/);
    });

    test('there is one default priority, and pods without a class have it', async () => {
      const { api } = here();
      const { json } = await create('priorities', { value: 7, globalDefault: true, description: 'd' });
      const name = text(json['metadata']?.['name']);
      const second = await create('priorities', { value: 8, globalDefault: true });
      assert.equal(second.code, 403);
      assert.ok(text(second.json['message']).endsWith(`PriorityClass ${name} is already marked as default. Only one default can exist`));
      const spec = { schedulerName: 'nobody', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] };
      const pod = await api.post(`/api/v1/namespaces/${own()}/pods`, { metadata: { name: 'default-priority' }, spec });
      await remove('priorities', name);
      assert.equal(pod.json['spec']?.['priorityClassName'], name);
      assert.equal(pod.json['spec']?.['priority'], 7);
    });
  });
}

/** @param more - fields of objects in `base` that come in addition */
function merged(base: object, more: object): object {
  const both = Object.entries(more).map(([field, value]: [string, object]) => [field, { ...Object(base)[field], ...value }] as const);
  return { ...base, ...Object.fromEntries(both) };
}
