import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { benchNodes, makeCore, standingPods } from '../../../../bench/scheduler/core-cluster.ts';
import { basicPods, podsOf } from '../../../../bench/scheduler/core-workloads.ts';
import { FullScan } from '../../../../bench/scheduler/full-scan.ts';

test('a full scan and the engine see the same nodes as the best, pod after pod', () => {
  const { cluster, engine, profile } = makeCore(benchNodes(60), standingPods(60, 4));
  const order = cluster.order;
  const scan = new FullScan(order);
  const random = seededRandom(7);
  for (const info of podsOf(basicPods, 3_000)) {
    const { node, ties } = scan.place(info.requests, random);
    const decision = engine.decide(info, profile);
    const { totals } = engine.evaluate(info, profile);
    const name = order[node]?.name ?? '';
    assert.equal(decision.placed && decision.ties, ties);
    assert.equal(totals.get(name), Math.max(...totals.values()));
    cluster.assume(info, name);
  }
});

test('a full scan places nothing where nothing fits', () => {
  const { cluster } = makeCore(benchNodes(3), []);
  const scan = new FullScan(cluster.order);
  const [tooLarge] = podsOf({ ...basicPods, pod: (n) => basicPods.pod(n).cpu('65') }, 1);
  assert.deepEqual(tooLarge && scan.place(tooLarge.requests, seededRandom(1)), { node: -1, ties: 0 });
});
