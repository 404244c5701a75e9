import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { realRandom } from '../../../../base/random.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { LeaderElection } from '../../../../kube/election/election.ts';
import { NotLeaderError } from '../../../../kube/election/fence.ts';
import { fenced } from '../../../../kube/election/fenced.ts';
import { leases } from '../../../../kube/election/lease.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { RuntimeWorld } from './world.ts';

const [clock, random] = [realClock, realRandom];

/** Two who would lead. */
export function electionStory(world: RuntimeWorld): void {
  test('of two candidates one leads; it lets go, the other leads, and the first writes no more', async () => {
    const { admin } = world;
    const namespace = await world.inNamespace('election');
    const lease = { namespace, name: 'leader' };
    const candidate = (identity: string) => {
      const client = world.clientOf();
      // Nobody waits for it to run out: it is let go. So it may last longer than anything holds up the one who leads.
      const times = { leaseDurationMs: 90_000, renewDeadlineMs: 60_000, retryPeriodMs: 500 };
      const election = new LeaderElection({ client, lease, identity, clock, random, log: recordedLog().log, ...times });
      const ending = new AbortController();
      const writer = fenced(client, election);
      const write = (name: string): Promise<KubeObject> => writer.create<KubeObject>(configMaps, { metadata: { name, namespace } });
      return { election, write, running: election.run(ending.signal), stop: () => ending.abort() };
    };
    const stored = async (): Promise<Record<string, unknown>> => {
      const { spec } = await admin.get<KubeObject>(leases, lease);
      return spec as Record<string, unknown>;
    };
    const first = candidate('first');
    const second = candidate('second');
    try {
      // Whoever won the race.
      const [leader, other] = await Promise.race([
        first.election.whenLeading().then(() => [first, second] as const),
        second.election.whenLeading().then(() => [second, first] as const),
      ]);
      const { holderIdentity, renewTime } = await stored();
      await eventually('the lease is renewed, and the other sees whose it is', async () => {
        const now = await stored();
        assert.equal(now['holderIdentity'], holderIdentity);
        return now['renewTime'] !== renewTime && other.election.holder === holderIdentity ? true : undefined;
      });
      await leader.write('by-the-leader');
      await assert.rejects(other.write('too-early'), NotLeaderError);

      leader.stop();
      assert.deepEqual(await leader.running, { why: 'stopped', released: true });
      assert.equal(await other.election.whenLeading(), true);
      assert.ok((other.election.epoch ?? 0) > (leader.election.epoch ?? 0));
      const after = await stored();
      assert.notEqual(after['holderIdentity'], holderIdentity);
      assert.equal(after['holderIdentity'], other.election.holder);
      await assert.rejects(leader.write('too-late'), NotLeaderError);
      await other.write('by-the-next');
      const { items } = await admin.list<KubeObject>(configMaps, { namespace });
      const names = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
      assert.deepEqual(names, ['by-the-leader', 'by-the-next']);
    } finally {
      first.stop();
      second.stop();
      await Promise.all([first.running, second.running]);
    }
  });
}
