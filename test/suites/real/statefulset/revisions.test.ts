import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statefulSetHistory } from '../../../../controllers/common/history/contract.ts';
import type { Revision } from '../../../../controllers/common/history/contract.ts';
import { planHistory } from '../../../../controllers/common/history/plan.ts';
import { newRevision, revisionData, templateOf } from '../../../../controllers/common/history/revision.ts';
import { goJson } from '../../../../kube/api/go-json.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { statefulSets } from '../../../../kube/api/resources.ts';
import { controllerOf } from '../../../../kube/controller/owner-refs.ts';
import { eventually } from '../../../support/eventually.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import { startControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { withRealParts } from '../suite.ts';

interface StatefulSet extends KubeObject {
  spec: { template: Record<string, unknown> };
  status?: { updateRevision?: string; collisionCount?: number };
}

const SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const PODS = '/api/v1/namespaces/default/pods';

const container = { name: 'c', image: 'example/i:1' };
const templates = [
  { why: 'a template as short as can be', name: 'short', spec: { containers: [container] } },
  {
    why: 'one with all that is written in more than one way',
    name: 'long',
    annotations: { text: 'a < b && c > d \u2028 \\ " \t ä 😀 \u007f', empty: '', '10': 'ten', '9': 'nine' },
    spec: {
      containers: [
        {
          ...container,
          command: ['sh', '-c', 'true && true > /dev/null\n'],
          env: [{ name: 'EMPTY', value: '' }],
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: 0.5, memory: '1024Mi' }, requests: { cpu: '0.25' } },
          livenessProbe: { httpGet: { port: 80 } },
          securityContext: { runAsUser: 0, privileged: false },
        },
      ],
      volumes: [
        { name: 'x', emptyDir: {} },
        { name: 'y', configMap: { name: 'cm', defaultMode: 0 } },
      ],
      hostNetwork: false,
      tolerations: [],
      affinity: {},
      terminationGracePeriodSeconds: 0,
    },
  },
];

await withRealParts('revisions of kube-controller-manager', ['etcd', 'kube-apiserver', 'kube-controller-manager'], () => {
  let plane: ControlPlane;
  let api: ApiHttp;
  before(async () => {
    plane = await startControlPlane({ nodes: [], controllers: 'statefulset' });
    api = new ApiHttp({ url: plane.url, ca: plane.ca, token: plane.adminToken });
  });
  after(() => plane.stop());

  const post = async (path: string, body: object): Promise<void> => {
    const { code, json } = await api.post(path, body);
    assert.equal(code, 201, JSON.stringify(json));
  };
  const setOf = (name: string, { annotations = {}, spec }: { annotations?: object; spec: object }) => ({
    metadata: { name, annotations: { of: 'the set' } },
    spec: {
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name }, annotations }, spec },
    },
  });
  const observed = (name: string): Promise<StatefulSet> =>
    eventually(`the status of ${name}`, async () => {
      const set = (await api.get(`${SETS}/${name}`)).json as unknown as StatefulSet;
      return (set.status?.updateRevision ?? '') === '' ? undefined : set;
    });
  const revisionOf = async (set: StatefulSet): Promise<Revision> =>
    (await api.get(`${REVISIONS}/${set.status?.updateRevision}`)).json as unknown as Revision;
  const planned = (set: StatefulSet, revisions: Revision[]) =>
    planHistory({ owner: set, template: set.spec.template, collisionCount: 0, revisions, pods: [] }, statefulSets, statefulSetHistory);

  for (const { why, name, ...template } of templates) {
    test(`${why} gives ours the same name, labels and words`, async () => {
      await post(SETS, setOf(name, template));
      const set = await observed(name);
      const theirs = await revisionOf(set);
      const ours = newRevision(set, statefulSets, { template: set.spec.template, collisionCount: 0 }, 1, statefulSetHistory);
      assert.equal(ours.metadata.name, theirs.metadata.name);
      assert.deepEqual(ours.metadata.labels, theirs.metadata.labels);
      assert.deepEqual(ours.metadata.annotations, theirs.metadata.annotations);
      assert.deepEqual(controllerOf(ours), controllerOf(theirs));
      assert.equal(goJson(revisionData(set.spec.template)), goJson(theirs.data));
      assert.equal(goJson(templateOf(theirs)), goJson(set.spec.template));
      assert.deepEqual(planned(set, [theirs]).steps, []);
      const pod = await eventually(`the pod of ${name}`, async () => {
        const { code, json } = await api.get(`${PODS}/${name}-0`);
        return code === 200 ? (json as unknown as KubeObject) : undefined;
      });
      assert.equal(pod.metadata.labels?.['controller-revision-hash'], planned(set, [theirs]).hash);
    });
  }

  test('after a collision both count alike, and the label keeps the first hash', async () => {
    const spec = { containers: [container] };
    // Of the same template under another name: what will be in the revision is known before.
    const template = ((await api.post(`${SETS}?dryRun=All`, setOf('taken', { spec }))).json as unknown as StatefulSet).spec.template;
    const [first, second] = [0, 1].map(
      (collisionCount) =>
        newRevision({ metadata: { name: 'taken', uid: 'any' } }, statefulSets, { template, collisionCount }, 1, statefulSetHistory)
          .metadata,
    );
    await post(REVISIONS, { metadata: { name: first?.name }, revision: 1, data: { spec: {} } });
    await post(SETS, setOf('taken', { spec }));
    const set = await observed('taken');
    const theirs = await revisionOf(set);
    assert.deepEqual([theirs.metadata.name, set.status?.collisionCount], [second?.name, 1]);
    assert.deepEqual(theirs.metadata.labels, first?.labels);
  });
});
