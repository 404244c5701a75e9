import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earliest, reconcileSet } from '../../../../controllers/common/reconcile.ts';
import { done } from '../../../../kube/controller/controller.ts';
import { SetMemory } from '../../../../controllers/common/set-memory.ts';
import { statefulSets } from '../../../../kube/api/object.ts';
import { Turns } from '../../../../kube/controller/workers.ts';
import { OwnWrites } from '../../../../kube/controller/own-writes.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('of several times a set is looked at again at the first', () => {
  const at = (requeueAfter: number) => ({ requeueAfter, why: `in ${requeueAfter} ms` });
  assert.deepEqual(earliest([at(30), at(10), at(20)]), at(10));
  assert.deepEqual(earliest([]), done);
});

test('what is noted of a set that is deleted while it is reconciled is forgotten when that ends', async () => {
  const clock = new FakeClock();
  const memory = new SetMemory(clock);
  const set = { metadata: { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '1' }, status: {} };
  const there = new Map<string, object>([['a/web', set]]);
  const sets = { resource: statefulSets, version: '1', get: (key: string) => there.get(key) };
  const nothing = { keep: [], adopt: [], release: [] };
  const client = {
    replace: async (_: unknown, object: object) => {
      // Its deletion is told before the answer to this comes.
      there.delete('a/web');
      memory.forget('u');
      return object;
    },
  };
  const by = {
    resource: statefulSets,
    client,
    caches: { sets, revisions: { indexed: () => [] } },
    allCaches: [sets],
    ownWrites: new OwnWrites(clock),
    events: { event() {} },
    memory,
    turns: new Turns(clock),
    rules: () => ({ set, tooLarge: undefined }),
    unusable: () => undefined,
    warnings: () => [],
    observe: () => undefined,
    planOwnership: () => ({ adoption: { pods: nothing, revisions: nothing }, history: { steps: [] } }),
    executeOwnership: () => assert.fail(),
    *plan() {
      yield;
      return { warnings: [{ about: 'claims', events: [{ type: 'Warning', reason: 'A', message: 'b' }] }], wakeUps: [] };
    },
    execute: async () => ({ failures: [] }),
    planStatus: () => ({ status: { replicas: 1 }, wakeUps: [] }),
    forget: (_key: string, uid: string) => memory.forget(uid),
  };
  await reconcileSet('a/web', by as unknown as Parameters<typeof reconcileSet>[1], new AbortController().signal);
  assert.equal(memory.of({ set }).statusHeldMs('idle'), 0);
  assert.equal(memory.isNewText(set, 'b', 'claims'), true);
});
