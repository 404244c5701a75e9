import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { Counter, DomainCounts } from '../../../../scheduler/cache/counts.ts';
import { Topologies } from '../../../../scheduler/cache/topology.ts';

test('nodes with the same label share a domain, those without have none', () => {
  const topologies = new Topologies();
  const zone = topologies.take('zone');
  topologies.changed(0, { zone: 'a' });
  topologies.changed(1, { zone: 'b' });
  topologies.changed(2, { zone: 'a' });
  topologies.changed(3, {});
  assert.equal(zone.domains[0], zone.domains[2]);
  assert.notEqual(zone.domains[0], zone.domains[1]);
  assert.equal(zone.domains[3], -1);
});

test('nodes that come and go for years leave no numbers behind', () => {
  const topologies = new Topologies();
  const hostname = topologies.take('hostname');
  for (let n = 0; n < 10_000; n++) topologies.changed(n % 10, { hostname: `node-${n}` });
  assert.ok(hostname.count <= 11, `${hostname.count} numbers for 10 nodes`);
  assert.equal(new Set(hostname.domains.slice(0, 10)).size, 10);
});

test('a slot beyond the first 64 has a place', () => {
  const topologies = new Topologies();
  topologies.changed(500, { zone: 'a' });
  assert.equal(topologies.take('zone').domains[500], 0);
});

test('a column is there for as long as somebody uses it', () => {
  const topologies = new Topologies();
  topologies.changed(0, { zone: 'a' });
  const [one, other] = [topologies.take('zone'), topologies.take('zone')];
  assert.equal(one, other);
  topologies.release(one);
  assert.equal(topologies.size, 1);
  topologies.release(other);
  assert.equal(topologies.size, 0);
});

test('a label that nobody has any more is none that a node has, and its coming and going is counted', () => {
  const topologies = new Topologies();
  const before = topologies.keysVersion;
  topologies.changed(0, { zone: 'a' });
  topologies.changed(1, { zone: 'b' });
  assert.deepEqual([topologies.has('zone'), topologies.has('rack'), topologies.keysVersion], [true, false, before + 1]);
  topologies.changed(0, {});
  topologies.changed(1, { zone: 'c' });
  assert.deepEqual([topologies.has('zone'), topologies.keysVersion], [true, before + 1]);
  topologies.changed(1, undefined);
  assert.deepEqual([topologies.has('zone'), topologies.keysVersion], [false, before + 2]);
});

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
