import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../table.ts';
import { byRelease, inOwnNamespace, isRefused, said, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { Loose } from '../api-http.ts';

const selector = { matchLabels: { a: 'b' } };
// Nobody schedules these pods, so that nothing changes behind the test.
const podSpec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'example/i' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
const other = { metadata: { labels: { x: 'y' } }, spec: podSpec };

// The template of every set above, as it is stored.
const storedTemplate = {
  metadata: { creationTimestamp: null, labels: { a: 'b' } },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'example/i',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'nobody',
  },
};

// Servers of today leave a time that is not set out.
const todaysTemplate = { ...storedTemplate, metadata: { labels: { a: 'b' } } };

const base = {
  daemonsets: { selector, template },
  statefulsets: { selector, serviceName: 'x', replicas: 0, template },
  replicasets: { selector, replicas: 0, template },
} as const;
type Resource = keyof typeof base;

// What every set has when it is stored, and what it has besides on servers of today.
const storedBase = {
  daemonsets: { selector, revisionHistoryLimit: 10 },
  statefulsets: { selector, serviceName: 'x', replicas: 0, podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 },
  replicasets: { selector, replicas: 0 },
};
const todaysBase = {
  daemonsets: {},
  statefulsets: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } },
  replicasets: {},
};

const defaults = table('of | why | spec | stored | today')(`
  daemonsets | rolls one by one | {} | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}
    | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}
  daemonsets | keeps no numbers for OnDelete | {updateStrategy: {type: OnDelete}} | {updateStrategy: {type: OnDelete}} | {}
  daemonsets | has a surge from 1.21 on, and loses the field before | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0}}}
    | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}
    | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}
  statefulsets | rolls from partition 0 | {} | {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}} | {}
  statefulsets | keeps no partition where only the type is given
    | {updateStrategy: {type: RollingUpdate}, ordinals: {start: 2}, minReadySeconds: 3}
    | {updateStrategy: {type: RollingUpdate}} | {ordinals: {start: 2}, minReadySeconds: 3}
  replicasets | has little to say | {} | {} | {}
`);

// Specs in YAML; `OTHER TEMPLATE` has labels that the selector does not match, `pod` is followed by fields of the spec of its pods.
const refused = table('of | spec | says | today')(`
  daemonsets | OTHER TEMPLATE
    | spec.template.metadata.labels: Invalid value: map[string]string{"x":"y"}: ´selector´ does not match template ´labels´
    | spec.template.metadata.labels: Invalid value: {"x":"y"}: ´selector´ does not match template ´labels´
  daemonsets | {selector: {}}
    | spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for daemonset
    | spec.selector: Invalid value: {}: empty selector is invalid for daemonset
  daemonsets | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0}}}
    | spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: cannot be 0
    | spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0
  daemonsets | {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 150%}}} | must not be greater than 100% |
  daemonsets | {updateStrategy: {type: X}}
    | spec.updateStrategy: Unsupported value: apps.DaemonSetUpdateStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}: supported values: "RollingUpdate", "OnDelete"
    | spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"
  daemonsets | pod {restartPolicy: Never} | spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always" |
  daemonsets | pod {containers: []} | spec.template.spec.containers: Required value |
  daemonsets | {selector: {matchExpressions: [{key: a, operator: Foo}]}}
    | spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator |
  statefulsets | {selector: null} | spec.selector: Required value |
  statefulsets | {replicas: -1} | spec.replicas: Invalid value: -1: must be greater than or equal to 0 |
  statefulsets | {podManagementPolicy: X} | spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel' |
  statefulsets | {updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}
    | spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:1}: only allowed for updateStrategy 'RollingUpdate'
    | spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'
  replicasets | OTHER TEMPLATE | ´selector´ does not match template ´labels´ |
`);

function specOf(text: string): object {
  if (text === 'OTHER TEMPLATE') return { template: other };
  const [, inPod, fields = ''] = /^(pod )?(.*)$/.exec(text) ?? [];
  const spec = parse(fields) as object;
  return inPod === undefined ? spec : { template: { ...template, spec: { ...podSpec, ...spec } } };
}

const newSelector = { selector: { matchLabels: { a: 'b', c: 'd' } }, template: { metadata: { labels: { a: 'b', c: 'd' } } } };
const immutable =
  'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b", "c":"d"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable';
const immutableToday = 'spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable';
const stateful =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden";
const statefulToday =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

const fixed: readonly { of: Resource; spec: object; says: string; today?: string }[] = [
  { of: 'daemonsets', spec: newSelector, says: immutable, today: immutableToday },
  { of: 'replicasets', spec: newSelector, says: immutable, today: immutableToday },
  { of: 'statefulsets', spec: newSelector, says: stateful, today: statefulToday },
  { of: 'statefulsets', spec: { serviceName: 'y' }, says: stateful, today: statefulToday },
  { of: 'statefulsets', spec: { podManagementPolicy: 'Parallel' }, says: stateful, today: statefulToday },
];

/** Kinds of apps/v1: their defaults, rules and subresources. */
export function appsContract(here: () => ContractWorld, release: ServerRelease): void {
  inOwnNamespace(here, 'apps', (own) => appsTests(here, own, release));
}

function appsTests(here: () => ContractWorld, own: () => string, release: ServerRelease): void {
  let made = 0;
  const path = (of: Resource) => `/apis/apps/v1/namespaces/${own()}/${of}`;
  const create = (of: Resource, spec: object) =>
    here().api.post(path(of), { metadata: { name: `apps-${++made}` }, spec: { ...base[of], ...spec } });

  for (const { of, why, spec, stored, today } of defaults) {
    const kind = of as Resource;
    const then = { ...storedBase[kind], template: storedTemplate, ...(parse(stored) as object) };
    const now = { ...then, template: todaysTemplate, ...todaysBase[kind], ...(parse(today) as object) };
    test(`defaults: one of ${of} ${why}`, async () => {
      const { code, json } = await create(kind, parse(spec) as object);
      assert.equal(code, 201, text(json['message']));
      assert.deepEqual(json['spec'], byRelease<object>(release, then, now));
      assert.equal(json['metadata']?.['generation'], 1);
    });
  }

  for (const { of, spec, ...row } of refused) {
    const says = said(release, row);
    test(`one of ${of} is refused: ${says}`, async () => {
      isRefused(await create(of as Resource, specOf(spec)), 422, says);
    });
  }

  for (const { of, spec, ...row } of fixed) {
    const says = byRelease(release, row.says, row.today);
    test(`one of ${of} does not change: ${Object.keys(spec).join(' and ')}`, async () => {
      const { json } = await create(of, {});
      isRefused(await here().api.patch(`${path(of)}/${text(json['metadata']?.['name'])}`, { spec }), 422, says);
    });
  }

  test('a claim template is stored as a claim', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } };
    const { json } = await create('statefulsets', { volumeClaimTemplates: [{ metadata: { name: 'd' }, spec }] });
    assert.deepEqual(json['spec']?.['volumeClaimTemplates'], [
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: byRelease<object>(release, { name: 'd', creationTimestamp: null }, { name: 'd' }),
        spec: { ...spec, resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ]);
  });

  test('only a new spec is a new generation, and a new template is counted once more', async () => {
    const { api } = here();
    const { json } = await create('daemonsets', { updateStrategy: { type: 'OnDelete' } });
    const set = `${path('daemonsets')}/${text(json['metadata']?.['name'])}`;
    const count = (answer: Loose) => [
      answer['metadata']?.['generation'],
      answer['metadata']?.['annotations']?.['deprecated.daemonset.template.generation'],
    ];
    assert.deepEqual(count(json), [1, '1']);
    assert.deepEqual(count((await api.patch(set, { metadata: { labels: { x: 'y' } } })).json), [1, '1']);
    assert.deepEqual(count((await api.patch(set, { spec: { minReadySeconds: 1 } })).json), [2, '1']);
    const renamed = { template: { metadata: { annotations: { x: 'y' } } } };
    assert.deepEqual(count((await api.patch(set, { spec: renamed })).json), [3, '2']);
    assert.deepEqual(count((await api.patch(`${set}/status`, { spec: { minReadySeconds: 9 } })).json), [3, '2']);
    await api.patch(set, { metadata: { finalizers: ['example.com/hold'] } });
    for (const _ of ['the first delete counts', 'and no other']) assert.deepEqual(count((await api.delete(set)).json), [4, '2']);
    await api.patch(set, { metadata: { finalizers: null } });
  });

  test('a StatefulSet is scaled through its scale', async () => {
    const { api } = here();
    const { json } = await create('statefulsets', {});
    const { uid, name } = json['metadata'] ?? {};
    const set = `${path('statefulsets')}/${text(name)}`;
    const { json: scale } = await api.get(`${set}/scale`);
    assert.equal(scale['kind'], 'Scale');
    assert.equal(scale['apiVersion'], 'autoscaling/v1');
    assert.equal(scale['metadata']?.['uid'], uid);
    assert.deepEqual(scale['spec'], {});
    assert.equal(scale['status']?.['selector'], 'a=b');
    isRefused(
      await api.patch(`${set}/scale`, { spec: { replicas: -4 } }),
      422,
      /^Scale\.autoscaling "apps-\d+" is invalid: spec\.replicas: Invalid value: -4: must be greater/,
    );
    const stale = await api.put(`${set}/scale`, {
      ...scale,
      metadata: { ...scale['metadata'], resourceVersion: '1' },
      spec: { replicas: 1 },
    });
    assert.equal(stale.code, 409);
    assert.deepEqual((await api.patch(`${set}/scale`, { spec: { replicas: 0 } })).json['spec'], {});
    await api.delete(set);
  });

  test('a status cannot count more pods than there are', async () => {
    const { api } = here();
    const { json } = await create('statefulsets', {});
    const set = `${path('statefulsets')}/${text(json['metadata']?.['name'])}`;
    const { code, json: answer } = await api.patch(`${set}/status`, { status: { replicas: 1, readyReplicas: 2 } });
    assert.equal(code, 422);
    assert.ok(text(answer['message']).endsWith('status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'));
  });

  test('the data of a revision is for life, its number is not', async () => {
    const { api } = here();
    const revisions = `/apis/apps/v1/namespaces/${own()}/controllerrevisions`;
    assert.equal((await api.post(revisions, { metadata: { name: 'r' }, revision: 1, data: { a: 1 } })).code, 201);
    assert.equal((await api.patch(`${revisions}/r`, { revision: 2 })).code, 200);
    const { code, json } = await api.patch(`${revisions}/r`, { data: { a: 2 } });
    assert.equal(code, 422);
    const value = byRelease(release, /runtime\.Unknown\{.*Raw:\[\]uint8\{0x7b, .*\}/, /\{"a":2\}/).source;
    assert.match(text(json['message']), new RegExp(`data: Invalid value: ${value}: field is immutable$`));
    const none = await api.post(revisions, { metadata: { name: 's' }, revision: 1 });
    assert.match(text(none.json['message']), /data: Required value: data is mandatory$/);
  });

  const words = [
    { why: 'sorted', data: '{"a":{"$patch":"replace","x":null,"y":1},"b":[]}', strategic: 200 },
    { why: 'in another order', data: '{"b":[],"a":{"x":null,"y":1,"$patch":"replace"}}', strategic: 422 },
  ];
  for (const { why, data, strategic } of words) {
    test(`the data of a revision is for life in the words in which it came, fields ${why}`, async () => {
      const { api } = here();
      const revisions = `/apis/apps/v1/namespaces/${own()}/controllerrevisions`;
      const name = why.replaceAll(' ', '-');
      const body = { metadata: { name }, revision: 1, data: JSON.parse(data) as object };
      const { json: made } = await api.post(revisions, body);
      assert.equal(JSON.stringify(made['data']), data);
      const path = `${revisions}/${name}`;
      const labels = { metadata: { labels: { a: 'b' } } };
      assert.equal((await api.patch(path, { ...labels, revision: 2 })).code, 200);
      assert.equal((await api.put(path, { ...body, revision: 3 })).code, 200);
      const other = { b: [], a: { y: 1, x: null, $patch: 'replace' } };
      assert.equal((await api.put(path, { ...body, data: other })).code, 422);
      const { code, json } = await api.patch(path, labels, { type: 'application/strategic-merge-patch+json' });
      assert.equal(code, strategic);
      if (code === 422)
        assert.match(
          text(json['message']),
          byRelease(
            release,
            /data: Invalid value: runtime\.Unknown\{.*: field is immutable$/,
            /data: Invalid value: \{"a":.*\}: field is immutable$/,
          ),
        );
      assert.equal(JSON.stringify((await api.get(path)).json['data']), data);
    });
  }
}
