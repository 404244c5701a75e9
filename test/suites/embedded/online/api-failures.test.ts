import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { secondsSince } from './bell.ts';
import { Cluster } from './cluster.ts';
import { config, HostedAgent, sourceOf } from './hosted-agent.ts';
import { RealTime } from '../../../support/real-time.ts';
import type { Fault } from '../../../../apiserver/faults/fault.ts';
import { realClock } from '../../../../base/clock.ts';

/** Retries that are seconds apart come in tenths of them. */
const clock = new RealTime({ speed: 10 });

async function cluster(t: TestContext): Promise<Cluster> {
  const made = await Cluster.start();
  t.after(() => made.stop());
  return made;
}

/** An agent that uses the ConfigMap of its own name. */
async function settled(on: Cluster, setup: Parameters<typeof HostedAgent.on>[1] = {}): Promise<HostedAgent> {
  const agent = await HostedAgent.on(on, { clock, ...setup });
  const made = await on.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
  await on.assign(agent.name, agent.name);
  agent.start();
  await agent.reports(on, { assigned: sourceOf(made), active: sourceOf(made) });
  return agent;
}

/** A change gets through and is reported. */
async function follows(on: Cluster, agent: HostedAgent, maxPods: number): Promise<void> {
  const made = await on.configMap(agent.name, { data: { kubelet: config({ maxPods }) } });
  await agent.reports(on, { assigned: sourceOf(made), active: sourceOf(made) });
  assert.equal(await agent.effectiveField('maxPods'), String(maxPods));
}

describe('an agent whose API server fails', { concurrency: 9 }, () => {
  const failures: { why: string; action: Fault['action'] }[] = [
    { why: '500', action: { status: 500 } },
    { why: 'half an answer', action: 'half' },
    { why: '410', action: 'gone' },
  ];
  for (const { why, action } of failures) {
    test(`${why} is logged, the config stays, and requests are few`, async (t) => {
      const on = await cluster(t);
      // The real clock: what is counted is what a real server would see.
      await using agent = await settled(on, { clock: realClock });
      const { starts } = agent;
      const calls = agent.calls.length;
      const lines = agent.said.length;
      const from = realClock.monotonic();
      on.server.hooks.setFaults([{ verb: '*', resource: '*', ms: 0, action }]);
      on.server.hooks.dropConnections();
      await agent.says(why === '410' ? 'watch expired' : 'failed to watch Node, retrying', lines);
      const seconds = await secondsSince(from);
      const made = agent.calls.slice(calls);
      assert.ok(made.length <= 12 * seconds, `${made.length} calls in ${seconds} s: ${made.join(', ')}`);
      assert.equal(agent.starts, starts);
      assert.equal(await agent.effectiveField('maxPods'), '50');
      on.server.hooks.setFaults([]);
      await follows(on, agent, 51);
    });
  }

  test('an event that the server does not take stops nothing; a refusal is told when it takes one again', async (t) => {
    const on = await cluster(t);
    await using agent = await settled(on, { syncInterval: 1000 });
    on.server.hooks.setFaults([{ verb: 'create', resource: 'events', action: { status: 500 }, ms: 0, count: 1 }]);
    const before = on.events(agent.name).length;
    await follows(on, agent, 51);
    assert.equal(on.events(agent.name).length, before);
    await agent.says('failed to send event');
    on.server.hooks.setFaults([{ verb: 'create', resource: 'events', action: { status: 500 }, ms: 0, count: 2 }]);
    await on.configMap(agent.name, { data: { kubelet: config({ maxPods: -1 }) } });
    await agent.until('the warning', () => on.events(agent.name).find(({ reason }) => reason === 'KubeletConfigRefused'));
    assert.equal(on.events(agent.name).length, before + 1);
  });
});
