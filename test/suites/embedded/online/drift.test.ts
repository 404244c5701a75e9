import assert from 'node:assert/strict';
import { appendFile, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { Cluster } from './cluster.ts';
import { config, HostedAgent } from './hosted-agent.ts';
import type { Condition, NodeConfigStatus } from '../../../../agent/status/node-config.ts';
import { driftedName } from '../../../../agent/store/layout.ts';

describe('drift of a node', { concurrency: 4 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start({ carrier: 'nodeconfig' });
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
  const conditionOf = (agent: HostedAgent): Condition | undefined => {
    const { status } = (cluster.server.hooks.storage.get('dkc.dev/nodeconfigs', agent.name) ?? {}) as { status?: NodeConfigStatus };
    return status?.conditions?.find(({ type }) => type === 'Drifted');
  };
  const condition = (agent: HostedAgent, wanted: string): Promise<Condition> =>
    agent.until(`condition ${wanted}`, () => {
      const now = conditionOf(agent);
      return now && `${now.status} ${now.reason}` === wanted ? now : undefined;
    });
  const events = (agent: HostedAgent): string[] =>
    cluster.events(agent.name).filter(({ reason }) => reason === 'KubeletConfigDrifted').map(({ type, message }) => `${String(type)} ${String(message)}`); // prettier-ignore
  const edit = (agent: HostedAgent): Promise<void> => appendFile(agent.options.effectiveConfig, 'podsPerCore: 7\n');
  const status = async (agent: HostedAgent) => JSON.parse((await agent.dkc('status', '-o', 'json')).stdout) as { drift: { kind: string; since: string | null }[]; next: string }; // prettier-ignore

  test('an edit is reported everywhere, left alone, and over once the agent writes its own again', async () => {
    await using agent = await assigned();
    const [written, path] = [await agent.effective(), agent.options.effectiveConfig];
    await edit(agent);
    const { message } = await condition(agent, 'True EffectiveFileChanged');
    assert.equal(message, `EffectiveFileChanged: ${path} was changed by another program or by hand`);
    await agent.until('an event', () => (events(agent).length > 0 ? true : undefined));
    assert.deepEqual(events(agent), [`Warning ${message}`]);
    const shown = await status(agent);
    assert.deepEqual(shown.drift.map(({ kind }) => kind), ['EffectiveFileChanged']); // prettier-ignore
    assert.match(shown.next, /systemctl restart dkc-agent/);
    assert.match(await agent.effective(), /podsPerCore: 7/, 'it is reported, not corrected');

    await agent.stop();
    assert.equal((await status(agent)).drift.length, 1, 'without an agent the disk says it');
    agent.start();
    await condition(agent, 'False NoDrift');
    await agent.until('the end of it', () => (events(agent).length > 1 ? true : undefined));
    const kept = driftedName(path);
    assert.deepEqual(events(agent).slice(1), [`Normal ${message}, and the agent has written its own again; the changed file is kept as ${kept}`]); // prettier-ignore
    assert.equal(await agent.effective(), written);
    assert.match(await readFile(kept, 'utf8'), /podsPerCore: 7/);
    assert.deepEqual((await status(agent)).drift, []);
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
