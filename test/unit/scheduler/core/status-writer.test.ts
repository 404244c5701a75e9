import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { StatusWriter, type Wanted } from '../../../../scheduler/core/status-writer.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';

type Written = { status: { conditions: { message: string }[]; nominatedNodeName?: string | null } };

/** Writes that end when the test says so. */
function writer(atOnce = 1) {
  const clock = new FakeClock();
  const written: string[] = [];
  const open: ((error?: Error) => void)[] = [];
  const patch = (_: unknown, __: unknown, body: unknown): Promise<unknown> => {
    const { conditions, nominatedNodeName } = (body as Written).status;
    written.push(`${conditions[0]?.message}${nominatedNodeName === undefined ? '' : ` nominated=${nominatedNodeName}`}`);
    const answer = { metadata: { resourceVersion: `${written.length + 1}` }, status: (body as Written).status };
    return new Promise((resolve, reject) => open.push((error) => (error === undefined ? resolve(answer) : reject(error))));
  };
  const client = { patch } as unknown as Pick<Client, 'patch'>;
  const statuses = new StatusWriter({ client, clock, log: silentLog, atOnce });
  const end = async (): Promise<void> => {
    open.shift()?.();
    await atRest();
  };
  const fail = async (error = new Error('the test says so')): Promise<void> => {
    open.shift()?.(error);
    await atRest();
  };
  return { statuses, written, clock, end, fail };
}

const { signal } = new AbortController();
const says = (message: string, nominate?: string): Wanted => ({ reason: 'Unschedulable', message, nominate });
const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'A' }];
const waiting = podInfoOf(Object.assign(pod('web').build(), { status: { conditions } }));

const TAKEN_BACK = 'A nominated=null';
const cases: { why: string; writes: Wanted[]; becomes: string[] }[] = [
  { why: 'what it says already is not written', writes: [says('A')], becomes: [] },
  { why: 'of what waits only the last is written', writes: [says('B'), says('C'), says('D')], becomes: ['B', 'D'] },
  { why: 'a promise that is being written is taken back', writes: [says('B', 'a'), says('A', '')], becomes: ['B nominated=a', TAKEN_BACK] },
  { why: 'a promise that waits to be written is kept', writes: [says('B'), says('C', 'a'), says('D')], becomes: ['B', 'D nominated=a'] },
];
for (const { why, writes, becomes } of cases)
  test(`a pod's status: ${why}`, async () => {
    const { statuses, written, end } = writer();
    for (const wanted of writes) statuses.write(waiting, wanted, signal);
    for (let n = 0; n < 3; n++) await end();
    assert.deepEqual(written, becomes);
    await statuses.idle();
  });

test('what is being written about a pod can be waited for, and what waits is dropped', async () => {
  const { statuses, written, end } = writer();
  statuses.write(waiting, says('B'), signal);
  statuses.write(waiting, says('C'), signal);
  let over = false;
  void statuses.forget(waiting.uid)?.then(() => (over = true));
  await atRest();
  assert.equal(over, false);
  await end();
  assert.equal(over, true);
  assert.deepEqual(written, ['B']);
  assert.equal(statuses.forget(waiting.uid), undefined);
});

test('what could not be written is tried again, later each time, until it is said, or no longer so', async () => {
  const { statuses, written, clock, end, fail } = writer();
  statuses.write(waiting, says('B'), signal);
  await fail();
  await clock.advance(999);
  assert.deepEqual(written, ['B']);
  await clock.advance(1);
  await fail();
  await clock.advance(2_000);
  await end();
  await clock.advance(100_000);
  assert.deepEqual(written, ['B', 'B', 'B']);

  statuses.write(waiting, says('C'), signal);
  await fail();
  statuses.write(waiting, says('D'), signal);
  await end();
  await clock.advance(100_000);
  assert.deepEqual(written.slice(3), ['C', 'D']);

  statuses.write(waiting, says('E'), signal);
  await fail();
  void statuses.forget(waiting.uid);
  await clock.advance(100_000);
  assert.deepEqual(written.slice(5), ['E']);

  statuses.write(waiting, says('F'), signal);
  void statuses.forget(waiting.uid);
  await fail();
  await clock.advance(100_000);
  assert.deepEqual(written.slice(6), ['F']);

  statuses.write(waiting, says('G'), signal);
  for (let n = 0; n < 10; n++) {
    await fail();
    await clock.advance(60_000);
  }
  assert.deepEqual(written.slice(7), ['G', 'G', 'G', 'G', 'G', 'G']);
  assert.equal(clock.sleepers, 0);
});

for (const { node, becomes } of [
  { node: 'a', becomes: 'C nominated=a' },
  { node: '', becomes: 'C nominated=null' },
])
  test(`a promise ${node === '' ? 'that is taken back' : 'of a node'} is not lost with its write, when something newer waits`, async () => {
    const { statuses, written, clock, end, fail } = writer();
    statuses.write(waiting, says('B', node), signal);
    statuses.write(waiting, says('C'), signal);
    await fail();
    await end();
    await clock.advance(100_000);
    assert.deepEqual(written.slice(1), [becomes]);
    assert.equal(clock.sleepers, 0);
  });

test('what the server has taken counts as said before the pod shows it', async () => {
  const { statuses, written, end } = writer();
  const write = async (at: PodInfo, wanted: Wanted): Promise<void> => {
    statuses.write(at, wanted, signal);
    await end();
  };
  await write(waiting, says('B', 'a'));
  await write(waiting, says('B', 'a'));
  // The caches have the pod as it was before, which said this.
  await write(waiting, says('A', ''));
  assert.deepEqual(written, ['B nominated=a', 'A nominated=null']);
  // Somebody else has written since then.
  const changed = podInfoOf({ ...waiting.pod, metadata: { ...waiting.pod.metadata, resourceVersion: '9' } });
  await write(changed, says('A'));
  assert.equal(written.length, 2);
  await write(changed, says('B'));
  assert.equal(written.length, 3);
  assert.equal(statuses.owed, 0);
});

test('while something more urgent is written fewer statuses are, but never none', async () => {
  const { statuses, written, end } = writer(8);
  const named = (n: number) => podInfoOf(pod(`p${n}`).build());
  const ways = [statuses.makeWay(), statuses.makeWay()];
  for (let n = 0; n < 20; n++) statuses.write(named(n), says(`${n}`), signal);
  assert.equal(written.length, 2);
  await end();
  assert.equal(written.length, 3);
  for (const way of ways) way[Symbol.dispose]();
  await end();
  assert.equal(written.length, 3 + 1 + 6, 'all that may be, once one has ended');
  const few = writer(1);
  using _way = few.statuses.makeWay();
  few.statuses.write(named(0), says('0'), signal);
  assert.deepEqual(few.written, ['0']);
});

type Condition = { lastTransitionTime?: string; observedGeneration?: number };

test('since when a pod has no place is written once; each condition says of which generation it speaks', async () => {
  const clock = new FakeClock();
  const written: Condition[] = [];
  const patch = async (_: unknown, __: unknown, body: unknown): Promise<unknown> => {
    const { status } = body as { status: { conditions: Condition[] } };
    written.push(...status.conditions);
    return { metadata: { resourceVersion: `${written.length + 1}` }, status };
  };
  const statuses = new StatusWriter({ client: { patch } as unknown as Pick<Client, 'patch'>, clock, log: silentLog, atOnce: 1 });
  const raw = pod('new').build();
  const fresh = podInfoOf({ ...raw, metadata: { ...raw.metadata, generation: 3 } });
  for (const message of ['A', 'B']) {
    statuses.write(fresh, says(message), signal);
    await statuses.idle();
  }
  statuses.write(waiting, says('C'), signal);
  await statuses.idle();
  assert.deepEqual(
    written.map(({ lastTransitionTime, observedGeneration }) => [lastTransitionTime !== undefined, observedGeneration]),
    [[true, 3], [false, 3], [false, undefined]], // prettier-ignore
  );
});
