import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { AgentProcess, builtAgent } from '../embedded/online/agent-process.ts';
import { Cluster } from '../embedded/online/cluster.ts';
import { config, HostedAgent, sourceOf } from '../embedded/online/hosted-agent.ts';
import { realClock } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

const EDITS = 30;

/** How often 2 s are looked at until nothing happens in them; what a slow machine has left to do is done long before. */
const LOOKS = 30;

/** Whether there comes a time of 2 s whose beginning and end measure as `isRest` says. */
async function rest(measure: () => Promise<number>, isRest: (before: number, now: number) => boolean): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const before = await measure();
    await realClock.sleep(2000);
    if (isRest(before, await measure())) return true;
  }
  return false;
}

describe('an agent endures', { concurrency: 3 }, () => {
  test(`${EDITS} edits with kill -9 at random moments end with the last one; then it idles, and ends with 0 when asked to`, async () => {
    const cluster = await Cluster.start();
    try {
      // Holds directory, options and the node's place; the agent in it is never started.
      await using home = await HostedAgent.on(cluster);
      const { name } = home;
      const random = seededRandom(30);
      let made: KubeObject = await cluster.configMap(name, { data: { kubelet: config({ maxPods: 50 }) } });
      await cluster.assign(name, name);
      await using agent = await AgentProcess.start(builtAgent(), home);
      const effective = (wanted: unknown) =>
        cluster.bell.until(
          'status',
          () => (isDeepStrictEqual(cluster.node(name)?.status?.config, wanted) ? true : undefined),
          () => `${JSON.stringify(cluster.node(name)?.status)}\n${agent.log.slice(-3000)}`,
        );
      await effective({ assigned: sourceOf(made), active: sourceOf(made) });
      for (let edit = 1; edit <= EDITS; edit++) {
        made = await cluster.configMap(name, { data: { kubelet: config({ maxPods: 50 + edit }), [`edit-${edit}`]: 'x' } });
        await realClock.sleep(random() * 150);
        if (random() < 0.6) agent.kill('SIGKILL');
      }
      await effective({ assigned: sourceOf(made), active: sourceOf(made) });
      assert.equal(await home.effectiveField('maxPods'), String(50 + EDITS));
      assert.deepEqual(await home.store().verify(), []);
      assert.deepEqual(await home.store().record('assigned'), { at: 'known', source: sourceOf(made).configMap });
      assert.ok(agent.exitCodes.every((code) => code === 0), `exit codes ${agent.exitCodes.join(', ')}\n${agent.log}`); // prettier-ignore

      // What there was to do is done now; the rest is silence.
      const used = await rest(
        () => agent.cpuMs(),
        (before, now) => now >= before && now - before <= 100,
      );
      assert.ok(used, 'it goes on using more than 100 ms of CPU in 2 s of nothing');

      const ended = agent.exitCodes.length;
      agent.kill('SIGTERM');
      await cluster.bell.until('the end of the agent', () => (agent.exitCodes.length > ended ? true : undefined));
      assert.equal(agent.exitCodes.at(-1), 0);
    } finally {
      await cluster.stop();
    }
  });

  test('an idle agent asks nobody and writes nothing', async () => {
    const cluster = await Cluster.start();
    try {
      await using agent = await HostedAgent.on(cluster, { trialDuration: 100 });
      const made = await cluster.configMap(agent.name, { data: { kubelet: config({ maxPods: 50 }) } });
      await cluster.assign(agent.name, agent.name);
      agent.start();
      await agent.reports(cluster, { assigned: sourceOf(made), active: sourceOf(made), lastKnownGood: sourceOf(made) });
      await agent.until('the end of the trial on disk', async () => ((await agent.store().trial()) === undefined ? true : undefined));
      const done = (): string[] => [...agent.calls, ...agent.writes, ...agent.said.map(({ text }) => text)];
      const rested = await rest(
        () => Promise.resolve(done().length),
        (before, now) => now === before,
      );
      assert.ok(rested, `it goes on: ${done().slice(-30).join('; ')}`);
    } finally {
      await cluster.stop();
    }
  });
});
