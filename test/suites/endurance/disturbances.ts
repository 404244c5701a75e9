import assert from 'node:assert/strict';
import { realClock } from '../../../base/clock.ts';
import type { Participant, Participants } from './participants.ts';

const TAKEN_OVER_MS = 60_000;

/** What is done to a leader. Resolves when another one leads and the first one has ended. @returns whether a write of it may be late */
export interface Disturbance {
  name: string;
  do: (leader: Participant, all: Participants) => Promise<{ mayBeLate: boolean; ended?: number | string }>;
}

const linesOf = ({ lines }: Participant) => [lines.lease, lines.writes];

/**
 * It can write as before and does not hear of its lease, and the next one to come replaces another. The rules alone make it stop before anybody
 * may take over: with weaker ones its writes are late.
 */
export const cutOffFromItsLease: Disturbance = {
  name: 'cut off from its lease alone',
  do: async (leader, all) => {
    leader.lines.lease.cut();
    all.followerOf(leader)?.child.kill('SIGKILL');
    await all.nextAfter(leader, TAKEN_OVER_MS);
    assert.equal(await leader.ended, 1, 'who does not hear of its lease has lost, and ends');
    return { mayBeLate: true };
  },
};

export const disturbances: readonly [Disturbance, ...Disturbance[]] = [
  {
    name: 'killed',
    do: async (leader, all) => {
      leader.child.kill('SIGKILL');
      await all.nextAfter(leader, TAKEN_OVER_MS);
      return { mayBeLate: false };
    },
  },
  {
    name: 'stopped, and woken when another one leads',
    do: async (leader, all) => {
      leader.child.kill('SIGSTOP');
      await all.nextAfter(leader, TAKEN_OVER_MS);
      await realClock.sleep(all.random() * 500);
      leader.child.kill('SIGCONT');
      assert.equal(await leader.ended, 1, 'who was stopped has lost, and ends');
      return { mayBeLate: true };
    },
  },
  {
    name: 'cut off',
    do: async (leader, all) => {
      for (const line of linesOf(leader)) line.cut();
      await all.nextAfter(leader, TAKEN_OVER_MS);
      assert.equal(await leader.ended, 1, 'who is cut off has lost, and ends');
      return { mayBeLate: false };
    },
  },
  {
    name: 'cut off, with what it sent coming late',
    do: async (leader, all) => {
      for (const line of linesOf(leader)) line.hold();
      await all.nextAfter(leader, TAKEN_OVER_MS);
      for (const line of linesOf(leader)) line.open();
      assert.equal(await leader.ended, 1);
      return { mayBeLate: true };
    },
  },
  {
    name: 'asked to end',
    do: async (leader, all) => {
      leader.child.kill('SIGTERM');
      await all.nextAfter(leader, TAKEN_OVER_MS);
      const code = await leader.ended;
      // 1: it had lost its lease by itself before it was asked, as happens on a machine that is overloaded.
      assert.ok(code === 0 || code === 1, `it ended with ${code}`);
      return { mayBeLate: false, ended: code };
    },
  },
  cutOffFromItsLease,
];
