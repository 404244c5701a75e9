import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Cluster, NAMESPACE } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { runCli } from '../../../support/cli-context.ts';

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

    test('ends well: promoted', async () => {
      await using health = await healthEndpoint();
      await using agent = await HostedAgent.on(cluster, { kubeletHealthz: health.url, trialDuration: 300 });
      const made = await give(agent, 50);
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
      // A probe may stand for three periods, so that a slow machine is no shorter trial.
      assert.ok(health.asked >= 3, `the kubelet was asked ${health.asked} times`);
      await agent.says('trial passed');
      await agent.until('the end of the trial on disk', async () => ((await agent.store().trial()) === undefined ? true : undefined));
      assert.deepEqual(await journalOf(agent), ['booted local', `assigned ${made.metadata.resourceVersion}`, `booted ${made.metadata.resourceVersion}`, `promoted ${made.metadata.resourceVersion}`]); // prettier-ignore
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
  });
