import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { Counter, DomainCounts } from '../../../../scheduler/cache/counts.ts';
import { Topologies } from '../../../../scheduler/cache/topology.ts';

test('the fewest pods of a domain, with one of them taken to have another count, are those that are found one by one', () => {
  const random = seededRandom(7);
  const pick = (below: number): number => Math.floor(random() * below);
  const topologies = new Topologies();
  for (let slot = 0; slot < 20; slot++) topologies.changed(slot, slot < 17 ? { zone: `z${slot % 5}` } : {});
  const counter = new Counter();
  const view = new DomainCounts(counter, 'zone', topologies, () => 20, { version: 0, has: (slot) => slot % 5 !== 3 });
  view.refresh();
  const fewest = (domain: number, count: number): number => {
    const present = [0, 1, 2, 3, 4].filter((at) => view.isPresent(at));
    return Math.min(...present.map((at) => (at === domain ? count : (view.counts[at] ?? 0))));
  };
  for (let step = 0; step < 500; step++) {
    counter.add(pick(20), 1);
    const [domain, count] = [pick(6) - 1, pick(60)];
    assert.equal(view.fewest(domain, count), fewest(domain, count));
  }
  view.close();
  assert.equal(topologies.size, 0);
});
