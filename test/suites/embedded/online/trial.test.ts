import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Cluster, NAMESPACE } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { runCli } from '../../../support/cli-context.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';

/** A kubelet's health endpoint. */
async function healthEndpoint(): Promise<{ url: string; asked: number } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    state.asked += 1;
    response.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const state = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`,
    asked: 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return state;
}

for (const carrier of ['node', 'nodeconfig'] as const)
  describe(`a trial, assigned by ${carrier}`, { concurrency: 6 }, () => {
    let cluster: Cluster;
    before(async () => {
      cluster = await Cluster.start({ carrier });
    });
    after(() => cluster.stop());

    const journalOf = async (agent: HostedAgent) => (await agent.store().journal()).map(({ event, source }) => `${event} ${source?.resourceVersion ?? 'local'}`); // prettier-ignore
    const give = async (agent: HostedAgent, maxPods: number) => {
      const made = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods }) } });
      await cluster.assign(agent.name, agent.name);
      if (agent.starts === 0) agent.start();
      return made;
    };

    test('ends well: promoted, and the metrics say what status says', async () => {
      await using health = await healthEndpoint();
      const address = `127.0.0.1:${(await freePorts(1)).join()}`;
      await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 300, metricsBindAddress: address });
      const made = await give(agent, 50);
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
      // A probe may stand for three periods, so that a slow machine is no shorter trial.
      assert.ok(health.asked >= 3, `the kubelet was asked ${health.asked} times`);
      await agent.says('trial passed');
      await agent.until('the end of the trial on disk', async () => ((await agent.store().trial()) === undefined ? true : undefined));
      assert.deepEqual(await journalOf(agent), ['booted local', `assigned ${made.metadata.resourceVersion}`, `booted ${made.metadata.resourceVersion}`, `promoted ${made.metadata.resourceVersion}`]); // prettier-ignore

      const upstream = async () => (await (await fetch(`http://${address}/metrics`)).text()).split('\n').filter((line) => line.startsWith('kubelet_node_config')); // prettier-ignore
      const { uid, resourceVersion } = made.metadata;
      const labels = `{node_config_source="/api/v1/namespaces/dkc-system/configmaps/${agent.name}",node_config_uid="${uid}",node_config_resource_version="${resourceVersion}",node_config_kubelet_key="kubelet"}`;
      assert.deepEqual(await upstream(), [
        `kubelet_node_config_assigned${labels} 1`,
        `kubelet_node_config_active${labels} 1`,
        `kubelet_node_config_last_known_good${labels} 1`,
        'kubelet_node_config_error 0',
      ]);
      await cluster.removeConfigMap(agent.name);
      await agent.reportsError(cluster, statusErrors.download);
      assert.equal((await upstream()).at(-1), 'kubelet_node_config_error 1');
      await cluster.unassign(agent.name);
      await agent.reports(cluster, {});
      const none = '{node_config_source="local",node_config_uid="",node_config_resource_version="",node_config_kubelet_key=""}';
      assert.deepEqual(await upstream(), [
        `kubelet_node_config_assigned${none} 1`,
        `kubelet_node_config_active${none} 1`,
        `kubelet_node_config_last_known_good${none} 1`,
        'kubelet_node_config_error 0',
      ]);
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

    test('an admin rolls back with the API server away; the server hears of it later', async () => {
      const own = await Cluster.start({ carrier });
      try {
        await using health = await healthEndpoint();
        await using agent = await HostedAgent.on(own, { kubeletHealthz: health.url, trialDuration: 100 });
        const made = await own.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
        await own.assign(agent.name, agent.name);
        agent.start();
        await agent.reports(own, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
        await own.server.hooks.pause();
        const ran = await agent.dkc('rollback', '--reason=pods evicted');
        assert.equal(ran.code, 0, ran.stderr);
        await agent.until('the start after it', () => (agent.readies >= 3 ? true : undefined));
        // The only trusted one is the very content that was rolled back: local it is.
        assert.equal(await agent.effectiveField('maxPods'), '110');
        await own.server.hooks.resume();
        await agent.reports(own, { assigned: sourceOf(made), lastKnownGood: sourceOf(made), error: statusErrors.rolledBack });
        assert.equal((await agent.dkc('retry')).code, 0);
        await agent.reports(own, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
      } finally {
        await own.stop();
      }
    });
  });
