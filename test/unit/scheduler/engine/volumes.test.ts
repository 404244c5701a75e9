import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { VolumeAsk } from '../../../../scheduler/engine/engine.ts';
import { fitErrorText } from '../../../../scheduler/engine/rejections.ts';
import { Buckets } from '../../../../scheduler/engine/resource-class.ts';
import type { Rejection } from '../../../../scheduler/plugins/names.ts';
import { Chance } from '../oracle/chance.ts';
import { applied, eventsOf, randomCluster, randomEvent, randomPod } from '../oracle/generate.ts';
import { profiles } from './profiles.ts';
import { engineSubject } from './subject.ts';

const FIRST = Number(process.env['SEED'] ?? 1);
const elsewhere: Rejection = { plugin: 'VolumeZone', resolvable: false, reasons: ['node(s) had no available volume zone'] };

/** Each pod has a claim of its own, which some nodes refuse: more of them or fewer, by the pod. Nodes with many pods have no room for another disk. */
const volumes: VolumeAsk = {
  key: ({ uid }) => uid,
  prepare: ({ uid }) => ({
    rejection: ({ metadata: { name = '' } }, { length }) => (length > 4 || sum(uid + name) % 10 < sum(uid) % 11 ? elsewhere : undefined),
    score: ({ metadata: { name = '' } }, max) => sum(name) % (max + 1),
  }),
};
/** The same profile with points for volumes. */
const scoring = (profile: ProfileConfig): ProfileConfig => ({
  ...profile,
  volumeBinding: { shape: [{ utilization: 0, score: 10 }] },
  scores: new Map([...profile.scores, ['VolumeBinding', 5]]),
});
const sum = (text: string): number => Buffer.from(text).reduce((total, byte) => (total * 31 + byte) % 9_973, 7);

test('a pod with volumes goes to one of the nodes that are best when all are looked at, and is told the same where there is none', () => {
  const seen = { placed: 0, refused: 0, few: 0 };
  for (let seed = FIRST; seed < FIRST + 40; seed++) {
    const random = seededRandom(seed);
    const chance = new Chance(random);
    const begin = randomCluster(random, chance.of(20) ? 40 : 2 + chance.upTo(14));
    const subject = engineSubject(random, begin.budgets, volumes);
    for (const event of eventsOf(begin)) subject.happened(event);
    let cluster = begin;
    for (let asked = 0; asked < 40; asked++) {
      const event = randomEvent(random, cluster);
      subject.happened(event);
      cluster = applied(cluster, event);
      const pod = randomPod(random, cluster);
      const profile = chance.of(25) ? scoring(chance.one(profiles)) : chance.one(profiles);
      const { totals, error, rejections } = subject.evaluate(pod, profile);
      const decision = subject.decide(pod, profile);
      if (totals.size === 0) {
        assert.ok(!decision.placed, `seed ${seed}`);
        assert.equal(fitErrorText(decision.error), fitErrorText(error), `seed ${seed}`);
        seen.refused += 1;
        continue;
      }
      assert.ok(decision.placed, `seed ${seed}: ${JSON.stringify(decision)}`);
      assert.equal(totals.get(decision.node), Math.max(...totals.values()), `seed ${seed}: ${decision.node} is not one of the best`);
      if ([...rejections.values()].includes(elsewhere)) seen.few += 1;
      seen.placed += 1;
    }
  }
  assert.ok(seen.placed > 300 && seen.few > 200 && seen.refused > 100, JSON.stringify(seen));
});

for (const [size, why] of [
  [12, 'a few are drawn'],
  [6, 'there are few'],
] as const)
  test(`each of the best that pass is as likely as the others, where ${why}`, () => {
    const buckets = new Buckets(20, 3);
    for (let slot = 0; slot < size; slot++) buckets.add(slot, 2);
    buckets.add(18, 3);
    buckets.add(19, 1);
    const random = seededRandom(5);
    const drawn = new Map<number, number>();
    for (let n = 0; n < 6_000; n++) {
      const slot = buckets.draw((one) => one < 3, random) ?? assert.fail();
      drawn.set(slot, (drawn.get(slot) ?? 0) + 1);
    }
    assert.deepEqual(new Set(drawn.keys()), new Set([0, 1, 2]));
    for (const [slot, times] of drawn) assert.ok(times > 1_850 && times < 2_150, `${slot} was drawn ${times} times of 6000`);
    assert.equal(
      buckets.draw((one) => one === 19, random),
      19,
    );
    assert.equal(
      buckets.draw(() => false, random),
      undefined,
    );
  });
