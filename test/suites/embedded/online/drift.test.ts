import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { Cluster } from './cluster.ts';
import { config, HostedAgent } from './hosted-agent.ts';
import type { NodeConfigStatus } from '../../../../agent/status/node-config.ts';

describe('drift of a node', { concurrency: 4 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start('nodeconfig');
  });
  after(() => cluster.stop());

  const assigned = async (policy = ''): Promise<HostedAgent> => {
    const agent = await HostedAgent.on(cluster);
    await appendFile(agent.options.policy ?? '', policy);
    await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
    await cluster.assign(agent.name, agent.name);
    agent.start();
    await agent.until('the assigned config', async () => ((await agent.effectiveField('maxPods')) === '50' ? true : undefined));
    await agent.ready(2);
    await condition(agent, 'False NoDrift');
    return agent;
  };
  const condition = (agent: HostedAgent, wanted: string) =>
    agent.until(`condition ${wanted}`, () => {
      const { status } = (cluster.server.hooks.storage.get('dkc.dev/nodeconfigs', agent.name) ?? {}) as { status?: NodeConfigStatus };
      return status?.conditions?.find((one) => one.type === 'Drifted' && `${one.status} ${one.reason}` === wanted);
    });
  const events = (agent: HostedAgent): string[] =>
    cluster.events(agent.name).filter(({ reason }) => reason === 'KubeletConfigDrifted').map(({ type, message }) => `${String(type)} ${String(message)}`); // prettier-ignore
  const edit = (agent: HostedAgent): Promise<void> => appendFile(agent.options.effectiveConfig, 'podsPerCore: 7\n');

  test('an edit is reported and left alone, and over once the agent writes its own again', async () => {
    await using agent = await assigned();
    await edit(agent);
    const { message } = await condition(agent, 'True EffectiveFileChanged');
    assert.equal(message, `EffectiveFileChanged: ${agent.options.effectiveConfig} was changed by another program or by hand`);
    assert.match(await agent.effective(), /podsPerCore: 7/);
    await agent.until('an event', () => events(agent)[0]);
    await agent.stop();
    agent.start();
    await condition(agent, 'False NoDrift');
    const over = await agent.until('the end of it', () => events(agent)[1]);
    assert.match(over, /^Normal EffectiveFileChanged.*, and the agent has written its own again; the changed file is kept as /);
  });

  test('where policy says so the file is written again three times in an hour, and then reported', async () => {
    await using agent = await assigned('drift: correct\n');
    const [written, starts] = [await agent.effective(), agent.starts];
    for (let n = 1; n <= 3; n++) {
      await edit(agent);
      await agent.until(`start ${starts + n}`, () => (agent.starts > starts + n - 1 ? true : undefined));
      await agent.ready(starts + n);
      assert.equal(await agent.effective(), written);
      await agent.until(`event ${n}`, () => (events(agent).length === n ? true : undefined));
    }
    assert.ok(events(agent).every((event) => event.startsWith('Warning') && event.includes('has written its own again')), events(agent).join('\n')); // prettier-ignore
    await edit(agent);
    const { message } = await condition(agent, 'True EffectiveFileChanged');
    assert.match(message, /by hand; not corrected again, after 3 corrections within an hour$/);
    assert.equal(agent.starts, starts + 3);
  });
});
