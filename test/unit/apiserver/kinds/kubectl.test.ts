import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiServer } from '../../../../apiserver/server.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import { describeWithKubectl, Kubectl } from '../../../support/kubectl.ts';
import { started } from '../started.ts';

const workloads = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ds}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      nodeSelector: {disk: ssd}
      tolerations: [{operator: Exists}]
      containers:
        - name: c
          image: example/i:1
          env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
          ports: [{containerPort: 80}]
          resources: {requests: {cpu: 100m}}
          volumeMounts: [{name: v, mountPath: /v}]
          livenessProbe: {httpGet: {path: /, port: 80}}
      volumes: [{name: v, hostPath: {path: /v}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ss}
spec:
  serviceName: x
  selector: {matchLabels: {a: c}}
  template: {metadata: {labels: {a: c}}, spec: {containers: [{name: c, image: "example/i:1"}]}}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: pdb}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
---
apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80, targetPort: web}]}
`;

function revision(number: number, uid: string): Record<string, unknown> {
  const containers = [{ name: 'c', image: `example/i:${number}` }];
  const template = { $patch: 'replace', metadata: { labels: { a: 'b' } }, spec: { containers } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `ds-${number}`,
      labels: { a: 'b' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid, controller: true, blockOwnerDeletion: true }],
    },
    revision: number,
    data: { spec: { template } },
  };
}

describeWithKubectl('kubectl drives workloads on the embedded server', (program) => {
  let server: ApiServer;
  let kubectl: Kubectl;
  before(async () => {
    ({ server } = await started());
    kubectl = await Kubectl.start(program, server.kubeconfig());
  });
  after(async () => {
    await kubectl.stop();
    await server.stop();
  });

  test('applies what is legal, and the same again changes nothing', async () => {
    assert.match(await kubectl.good('apply -f -', workloads), /^daemonset.apps\/ds created\nstatefulset.apps\/ss created\n/);
    const again = await kubectl.good('apply -f -', workloads);
    assert.deepEqual(again.match(/\w+$/gm), ['unchanged', 'unchanged', 'unchanged', 'unchanged']);
  });

  test('refuses a field that no pod has', async () => {
    const { code, stderr } = await kubectl.run(['apply', '-f', '-'], workloads.replace('ports:', 'potrs:'));
    assert.equal(code, 1);
    assert.match(stderr, /unknown field "(spec\.template\.spec\.containers\[0\]\.)?potrs"/);
  });

  const tables = [
    [
      'ds',
      /^NAME +DESIRED +CURRENT +READY +UP-TO-DATE +AVAILABLE +NODE SELECTOR +AGE +CONTAINERS +IMAGES +SELECTOR\nds +0 +0 +0 +0 +0 +disk=ssd +\S+ +c +example\/i:1 +a=b\n$/,
    ],
    ['sts', /^NAME +READY +AGE +CONTAINERS +IMAGES\nss +0\/1 +\S+ +c +example\/i:1\n$/],
    ['pdb', /^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\npdb +N\/A +1 +0 +\S+\n$/],
    ['svc', /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR\nsvc +ClusterIP +None +<none> +80\/TCP +\S+ +a=b\n$/],
    [
      'pc',
      /^NAME +VALUE +GLOBAL-DEFAULT +AGE\nsystem-cluster-critical +2000000000 +false +\S+\nsystem-node-critical +2000001000 +false +\S+\n$/,
    ],
  ] as const;
  for (const [what, shown] of tables) {
    test(`shows ${what} as kubectl has always shown them`, async () => assert.match(await kubectl.good(`get ${what} -o wide`), shown));
  }

  test('explains and describes', async () => {
    assert.match(await kubectl.good('explain daemonset.spec.updateStrategy.rollingUpdate'), /maxUnavailable\s+<string>/);
    assert.match(await kubectl.good('explain pod.spec.containers.livenessProbe'), /httpGet\s+<(Object|HTTPGetAction)>/);
    assert.match(await kubectl.good('describe ds ds'), /Desired Number of Nodes Scheduled: 0/);
    assert.match(await kubectl.good('describe sts ss'), /Replicas: +1 desired \| 0 total/);
  });

  test('scales', async () => {
    assert.match(await kubectl.good('scale sts ss --replicas=5'), /scaled/);
    assert.equal(await kubectl.good('get sts ss -o jsonpath={.spec.replicas},{.metadata.generation}'), '5,2');
  });

  test('follows, remembers, undoes and restarts a rollout', async () => {
    const uid = await kubectl.good('get ds ds -o jsonpath={.metadata.uid}');
    for (const number of [1, 2]) server.add(revision(number, uid));
    assert.match(await kubectl.good('rollout history ds ds'), /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/);
    assert.match(await kubectl.good('get controllerrevisions'), /ds-2 +daemonset\.apps\/ds +2 /);
    await kubectl.good('rollout undo ds ds --to-revision=2');
    assert.equal(await kubectl.good('get ds ds -o jsonpath={.spec.template.spec.containers[0].image}'), 'example/i:2');
    await kubectl.good('rollout restart ds ds');
    assert.match(await kubectl.good('get ds ds -o jsonpath={.spec.template.metadata.annotations}'), /restartedAt/);
    const api = new ApiHttp({ url: server.url, ca: server.caPem, token: server.token });
    const done = { desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1 };
    await api.patch('/apis/apps/v1/namespaces/default/daemonsets/ds/status', { status: { ...done, observedGeneration: 9 } });
    assert.match(await kubectl.good('rollout status ds ds --timeout=60s'), /successfully rolled out/);
  });

  test('runs a pod and selects it by its phase', async () => {
    assert.equal(await kubectl.good('run web --image=example/i'), 'pod/web created\n');
    assert.match(await kubectl.good('get pods --field-selector=status.phase=Pending,spec.nodeName='), /web +0\/1 +Pending/);
    assert.match(await kubectl.good('describe pod web'), /not-ready:NoExecute op=Exists for 300s/);
  });

  test('gives rights and asks for them', async () => {
    await kubectl.good('create clusterrole reader --verb=get --resource=pods');
    await kubectl.good('create rolebinding readers --clusterrole=reader --user=alice');
    assert.match(await kubectl.good('get rolebinding readers -o wide'), /readers +ClusterRole\/reader +\S+ +alice/);
    assert.equal(await kubectl.good('auth can-i delete pods'), 'yes\n');
  });
});
