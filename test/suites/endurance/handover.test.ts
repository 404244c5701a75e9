import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from '../../unit/kube/election/hand-overs.ts';
import { cutOffFromItsLease, disturbances } from './disturbances.ts';
import { Participants } from './participants.ts';
import { plantedBugs } from './planted-rules.ts';

const HAND_OVERS = Number(process.env['DKC_HAND_OVERS'] ?? 200);

test(`${HAND_OVERS} hand-overs between real processes: never two writers at once in the audit`, async (t) => {
  await using all = await Participants.start();
  const { audit } = all;
  const mayBeLate = new Set<string>();
  const took: number[] = [];
  const gracefully: unknown[] = [];
  for (let n = 0; n < HAND_OVERS; n++) {
    const disturbance = disturbances[n % disturbances.length] ?? disturbances[0];
    const leader = await all.leader(60_000);
    await new Promise((resolve) => setTimeout(resolve, all.random() * 300)); // at any point of its round of renewals
    const from = performance.now();
    const outcome = await disturbance.do(leader, all).catch((cause: unknown) => {
      throw new Error(`hand-over ${n + 1}, ${leader.identity} was ${disturbance.name}`, { cause });
    });
    took.push(performance.now() - from);
    if (outcome.ended !== undefined) gracefully.push(outcome.ended);
    if (outcome.mayBeLate) mayBeLate.add(leader.identity);
    assert.deepEqual(audit.late('target'), [], `after hand-over ${n + 1}: ${leader.identity} was ${disturbance.name}`);
    assert.deepEqual(audit.shared('target'), []);
  }
  // Without a version in it, the one request that was on its way when a leader was stopped or its line held up can come late: nobody can recall it.
  const late = audit.late('regardless');
  const perWriter = Map.groupBy(late, ({ identity }) => identity);
  for (const [identity, writes] of perWriter) {
    assert.ok(mayBeLate.has(identity), `${identity} wrote late, and had no reason to`);
    assert.equal(writes.length, 1, `${identity} wrote late more than once`);
  }
  assert.ok(audit.epochs > HAND_OVERS);
  const clean = gracefully.filter((code) => code === 0).length;
  assert.ok(clean > gracefully.length / 2, `${clean} of ${gracefully.length} ended with 0 when they were asked`);
  const slowest = Math.round(Math.max(...took));
  t.diagnostic(
    `${audit.epochs - 1} hand-overs, ${audit.writes.length} writes, ${late.length} late ones without a version; slowest hand-over ${slowest} ms`,
  );
});

for (const planted of plantedBugs) {
  test(`real processes whose election ${planted} are found out`, async () => {
    // Each who comes has a clock ahead of all others, and who does not hear of its lease may write for seconds: time enough to come and take it.
    const pace = { leaseDurationMs: 8_000, renewDeadlineMs: 7_000, retryPeriodMs: 250 };
    await using all = await Participants.start({ planted, skewMs: (n) => n * 3_600_000, pace });
    const { audit } = all;
    const disturbed = (async () => {
      for (;;) await cutOffFromItsLease.do(await all.leader(60_000), all);
    })();
    disturbed.catch(() => {}); // a leader that does not end, or several of them: the audit judges
    await all.until(120_000, 'a breach in the audit', () => audit.late('target').length + audit.shared('target').length || undefined);
  });
}

test('5,000 hand-overs in simulated lives', async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const life = await new HandOvers(seed).live(25);
    assert.deepEqual(life.breaches, [], `seed ${seed}`);
    assert.ok(life.handOvers >= 25 && life.recovered, `seed ${seed}: nobody leads`);
  }
});
