import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { rollouts, type NodeConfigRollout } from '../../../controllers/rollout/types.ts';
import { definitions } from '../../../deploy/definitions.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { configMaps, namespaces, nodes } from '../../../kube/api/resources.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { LightAgents } from '../../support/fleet/light-agents.ts';
import { eventually } from '../../support/eventually.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { releases } from '../../support/real-parts/release.ts';
import { startSubject } from './cluster/controllers.ts';
import { withRealParts } from './suite.ts';

const NODES = Number(process.env['DKC_FLEET_NODES'] ?? 60);
const PACE = { active: 200, trial: 500, condemned: 500 };
const crds: Resource = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions', kind: 'CustomResourceDefinition', namespaced: false }; // prettier-ignore

const payload = (maxPods: number): string =>
  JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods });

for (const release of await releases())
  await withRealParts(
    `rollouts on a real API server ${release.version}`,
    ['etcd', 'kube-apiserver', 'kubectl'],
    () => {
      test(`${NODES} nodes: a good one completes though the controller is killed, a bad one stops at its budget and is taken back`, async (t) => {
        const plane = await startControlPlane({ release });
        t.after(() => plane.stop());
        const client = createClient(
          { origin: 'the test', server: plane.url, ca: { data: plane.ca }, token: plane.adminToken },
          { log: silentLog },
        );
        t.after(() => client.close());
        for (const definition of definitions({ cel: release.minor >= 28 })) await client.create(crds, definition);
        const isServed = () => client.list(rollouts).then(() => true as const, () => undefined); // prettier-ignore
        await eventually('NodeConfigRollouts are served', isServed, 30_000);
        await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dkc-system' } });
        const agents = new LightAgents(client, realClock, PACE);
        t.after(() => agents.stop());
        void agents.run();
        const add = async (_: unknown, at: number): Promise<void> => {
          const name = `node-${at}`;
          await client.create<KubeObject>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
          const now = new Date().toISOString();
          const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: now, lastTransitionTime: now }]; // prettier-ignore
          const status = { nodeInfo: { kubeletVersion: `v${release.version}` }, conditions };
          await client.patch(nodes, { name }, { status }, { type: 'merge', subresource: 'status' });
          await agents.join(name);
        };
        await Promise.all(Array.from({ length: NODES }, add));
        const configMap = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'web', namespace: 'dkc-system' },
          data: { kubelet: payload(120) },
        };
        await client.create<KubeObject>(configMaps, configMap, { namespace: 'dkc-system' });

        await using controller = await startSubject('dkc', plane, ['--leader-elect=false'], 'rollout');
        const { kubectl: program } = await release.programs(['kubectl']);
        const kubectl = await Kubectl.start(program, plane.kubeconfig());
        t.after(() => kubectl.stop());
        const from = performance.now();
        await client.create<NodeConfigRollout>(rollouts, {
          apiVersion: 'dkc.dev/v1alpha1',
          kind: 'NodeConfigRollout',
          metadata: { name: 'web' },
          spec: { nodeSelector: {}, configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' }, drain: 'Always' },
        });
        const rollout = () => client.get<NodeConfigRollout>(rollouts, { name: 'web' });
        const comesTo = (what: string, holds: (status: NonNullable<NodeConfigRollout['status']>) => boolean) =>
          eventually(what, async () => (await rollout().then(({ status }) => status !== undefined && holds(status))) || undefined, 300_000);
        await comesTo('some nodes have it', ({ nodes: of }) => (of?.settled ?? 0) >= 2);
        await controller.kill();
        await controller.start();
        assert.match(await kubectl.good('wait --for=condition=Complete nodeconfigrollouts.dkc.dev/web --timeout=300s'), /condition met/);
        t.diagnostic(
          `${NODES} nodes in ${Math.round(performance.now() - from)} ms, drained one by one, at most ${agents.mostInFlight} in flight`,
        );
        const { status: good } = await rollout();
        assert.deepEqual([good?.nodes?.settled, good?.nodes?.failed], [NODES, 0]);
        const most = Math.max(1, Math.floor(NODES / 10));
        assert.ok(agents.mostInFlight <= most, `${agents.mostInFlight} in flight`);

        agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
        await client.patch(configMaps, { name: 'web', namespace: 'dkc-system' }, { data: { kubelet: payload(13) } }, { type: 'merge' });
        await comesTo('the bad one is taken back', ({ phase }) => phase === 'RolledBack');
        const { status: bad } = await rollout();
        assert.deepEqual([bad?.nodes?.failed, bad?.previousRevision], [1, good?.revision]);
        const cordoned = await eventually('nodes are given back', async () => {
          const { items } = await client.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodes);
          const left = items.filter(({ metadata, spec }) => spec?.unschedulable === true || metadata.annotations?.['dkc.dev/drained-by'] !== undefined);
          return left.length === 0 ? 'none' : undefined;
        }, 60_000); // prettier-ignore
        assert.equal(cordoned, 'none');
        assert.match(await kubectl.good('get nodeconfigrollouts.dkc.dev web'), /RolledBack/);
      });
    },
    release,
  );
