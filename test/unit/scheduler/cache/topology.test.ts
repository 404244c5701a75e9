import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Topologies } from '../../../../scheduler/cache/topology.ts';

test('nodes that come and go for years leave no numbers behind', () => {
  const topologies = new Topologies();
  const hostname = topologies.take('hostname');
  for (let n = 0; n < 10_000; n++) topologies.changed(n % 10, { hostname: `node-${n}` });
  assert.ok(hostname.count <= 11, `${hostname.count} numbers for 10 nodes`);
  assert.equal(new Set(hostname.domains.slice(0, 10)).size, 10);
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
