import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { Cluster, NAMESPACE } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { layout } from '../../../../agent/store/layout.ts';
import { type KubeObject, nodes } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { runCli } from '../../../support/cli-context.ts';
import { RealTime } from '../../../support/real-time.ts';

for (const carrier of ['node', 'nodeconfig'] as const)
  describe(`an agent on an API server, assigned by ${carrier}`, { concurrency: 6 }, () => {
    let cluster: Cluster;
    before(async () => {
      cluster = await Cluster.start(carrier);
    });
    after(() => cluster.stop());

    /** An agent that uses the ConfigMap named like its node. */
    async function assigned(agent: HostedAgent) {
      const made = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
      await cluster.assign(agent.name, agent.name);
      agent.start();
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
      return made;
    }
    const reportsOf = (agent: HostedAgent) =>
      agent.calls.filter((call) => call === (carrier === 'node' ? 'patch nodes/status' : 'patch nodeconfigs/status')).length;
    /** What events say of changes. */
    const changesOf = (agent: HostedAgent) =>
      cluster.events(agent.name).flatMap(({ reason, message }) => (reason === 'KubeletConfigChanged' ? [String(message)] : []));
    const changeTo = ({ metadata: { namespace, name, uid, resourceVersion } }: KubeObject): string =>
      `Kubelet restarting to use /api/v1/namespaces/${namespace}/configmaps/${name}, UID: ${uid}, ResourceVersion: ${resourceVersion}, KubeletConfigKey: kubelet`;

    test('a config is assigned: checkpoint, event, exit 0, and status after the next start', async () => {
      // After 2 s without an answer of sync it reports what it has.
      await using agent = await HostedAgent.on(cluster, { clock: new RealTime({ speed: 0.1 }) });
      await cluster.unassign(agent.name);
      agent.start();
      await agent.reports(cluster, {});
      const made = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
      await cluster.assign(agent.name, agent.name);
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
      assert.deepEqual(changesOf(agent), [changeTo(made)]);
      assert.deepEqual(agent.exitCodes, [0]);
      assert.equal(await agent.effectiveField('maxPods'), '50');
      // A NodeConfig says beside it that the agent has seen the new spec, and that the kubelet is healthy.
      assert.ok(reportsOf(agent) <= (carrier === 'node' ? 2 : 4), 'it showed half of a change');
    });

    test('a store that cannot be written is an internal failure, until it can', async () => {
      await using agent = await HostedAgent.on(cluster, { syncInterval: 200 });
      const made = await assigned(agent);
      const { checkpoints } = layout(agent.options.dynamicConfigDir);
      await rename(checkpoints, `${checkpoints}-away`);
      await writeFile(checkpoints, 'no directory');
      const next = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 60 }) } });
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), error: statusErrors.syncInternal });
      assert.equal(await agent.effectiveField('maxPods'), '50');
      await rm(checkpoints);
      await rename(`${checkpoints}-away`, checkpoints);
      await agent.reports(cluster, { assigned: sourceOf(next), active: sourceOf(next) });
      assert.ok(agent.exitCodes.every((code) => code === 0));
    });

    test('an admin who waits is told that the kubelet died three times under it, and what runs now', async () => {
      await using agent = await HostedAgent.on(cluster);
      const { name } = agent;
      const made = await cluster.configMap(name, { data: { kubelet: config({ maxPods: 60 }) } });
      agent.start();
      const { url, token, caPem } = cluster.server;
      const connect = async () => createClient({ server: url, origin: 'test', token, ca: { data: caPem } });
      const waiting = runCli(['assign', name, `--configmap=${NAMESPACE}/${name}`, '--key=kubelet', '--timeout=100s', '--wait'], {
        connect,
      });
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
      for (let exit = 0; exit < 3; exit++) await agent.kubeletEnds();
      const { code, stderr } = await waiting;
      assert.equal(code, 1);
      const source = `dkc-system/${name}:kubelet@${made.metadata.resourceVersion}`;
      assert.match(stderr, new RegExp(`^dkc: ${name} condemned ${source} after \\d+s: .*\\. It is back on local\n$`));
    });

    if (carrier === 'node')
      test('a Node that goes clears nothing; when it comes back its status is written again', async () => {
        await using agent = await HostedAgent.on(cluster);
        const made = await assigned(agent);
        await cluster.admin.delete(nodes, { name: agent.name });
        await agent.says('the API server has no such Node');
        await cluster.addNode(agent.name);
        // The new Node has no configSource: that is an answer, and it clears.
        await agent.reports(cluster, {});
        assert.deepEqual(changesOf(agent), [changeTo(made), 'Kubelet restarting to use local config']);
        await cluster.assign(agent.name, agent.name);
        await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made) });
      });
  });
