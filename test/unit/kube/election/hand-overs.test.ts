import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rules, type Rules } from '../../../../kube/election/next.ts';
import { HandOvers } from './hand-overs.ts';

// The endurance suite lives thousands of hand-overs.
test('whatever happens to three participants, there are never two writers, and soon one again', async () => {
  for (let seed = 1; seed <= 2; seed++) {
    const life = await new HandOvers(seed).live(20);
    assert.deepEqual(life.breaches, [], `seed ${seed}`);
    assert.ok(life.handOvers >= 20, `seed ${seed}: nobody took over`);
    assert.ok(life.recovered, `seed ${seed}: nobody led in the end`);
  }
});

const planted: { why: string; only?: string; weaker: Partial<Rules> }[] = [
  {
    why: "trusts the other's clock",
    weaker: {
      isOver: (seen, now) => now.wall - Date.parse(seen.lease?.spec?.renewTime ?? '') > seen.standsMs || rules.isOver(seen, now),
    },
  },
  { why: 'leads until it is told otherwise', only: 'stop', weaker: { isCertain: () => true } },
];
for (const { why, weaker, only } of planted) {
  test(`an election that ${why} is found out`, async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { breaches } = await new HandOvers(seed, { weaker, ...(only === undefined ? {} : { only }) }).live(10);
      if (breaches.length > 0) return;
    }
    assert.fail('it passed for sound');
  });
}
