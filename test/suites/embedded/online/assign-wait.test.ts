import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { AgentProcess, bundledAgent } from './agent-process.ts';
import { Cluster, NAMESPACE } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';

/** `dkc assign --wait` beside whole agents: what an admin's loop over nodes does with each end. */
describe('dkc assign --wait', { concurrency: 4 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster.stop());

  const connect = async () => createClient({ server: cluster.server.url, origin: 'test', token: cluster.server.token, ca: { data: cluster.server.caPem } }); // prettier-ignore
  const dkc = (...argv: string[]): Promise<Ran> => runCli(argv, { connect });
  const assign = (node: string, name: string, ...more: string[]): Promise<Ran> =>
    dkc('assign', node, `--configmap=${NAMESPACE}/${name}`, '--key=kubelet', '--timeout=100s', ...more);
  const make = (name: string, fields: Readonly<Record<string, unknown>>) => cluster.configMap(name, { data: { kubelet: config(fields) } });

  test('a loop over nodes stops at the first whose kubelet dies under it: an agent process, three exits', async (t) => {
    await using setup = await HostedAgent.on(cluster, {});
    const { name, dir } = setup;
    const other = cluster.nextName();
    await cluster.addNode(other);
    const good = await make(`good-${name}`, { maxPods: 50 });
    const deadly = await make(`deadly-${name}`, { maxPods: 60 });
    t.after(() => rm(dir, { recursive: true, force: true }));
    await using agent = await AgentProcess.start(await bundledAgent(dir), setup);
    const active = await assign(name, `good-${name}`, '--wait=active');
    assert.equal(active.code, 0, `${active.stderr}\n${agent.log}`);

    const loop = (async () => {
      for (const node of [name, other]) {
        const ran = await assign(node, `deadly-${name}`, '--wait');
        if (ran.code !== 0) return { node, ...ran };
      }
      return undefined;
    })();
    const status = () => cluster.node(name)?.status?.config as { active?: unknown; error?: string } | undefined;
    await setup.until('it to be active', () => (JSON.stringify(status()?.active) === JSON.stringify(sourceOf(deadly)) ? true : undefined)); // prettier-ignore
    assert.match((await dkc('nodes', name)).stdout, new RegExp(`^${name} +trial`, 'm'));
    for (let exit = 0; exit < 3; exit++) await setup.kubeletEnds();
    const stopped = await loop;
    assert.equal(stopped?.node, name, 'it never came to the other node');
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, new RegExp(`^dkc: ${name} condemned dkc-system/deadly-${name}:kubelet@${deadly.metadata.resourceVersion} after \\d+s: .*\\. It is back on local\n$`)); // prettier-ignore
    assert.equal(cluster.node(other)?.['spec'], undefined);
    assert.ok(good.metadata.uid);
    assert.match(
      (await dkc('nodes', name)).stdout,
      new RegExp(`^${name} +condemned +dkc-system/deadly-${name}:kubelet@\\d+ +local +local `, 'm'),
    );
  });
});
