import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { StatusWriter } from '../../../../scheduler/core/status-writer.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { table } from '../../../support/table.ts';
import { pod } from '../builders.ts';
import { ReportedFailures } from '../../../../scheduler/core/failure-handler.ts';

type Condition = { message: string; lastTransitionTime?: string; observedGeneration?: number };
type Written = { status: { conditions: Condition[]; nominatedNodeName?: string | null } };

/** Writes that end when the test says so. `written`: `B`, `B>a` with a promise of node a, `B>` when promises are taken back. */
function writer(atOnce = 1) {
  const clock = new FakeClock();
  const written: string[] = [];
  const conditions: Condition[] = [];
  const open: ((error?: Error) => void)[] = [];
  const patch = (_: unknown, __: unknown, { status }: Written): Promise<unknown> => {
    const { conditions: [condition = assert.fail()], nominatedNodeName } = status; // prettier-ignore
    written.push(`${condition.message}${nominatedNodeName === undefined ? '' : `>${nominatedNodeName ?? ''}`}`);
    conditions.push(condition);
    const answer = { metadata: { resourceVersion: `${written.length + 1}` }, status };
    return new Promise((resolve, reject) => open.push((error) => (error === undefined ? resolve(answer) : reject(error))));
  };
  const statuses = new StatusWriter({ client: { patch } as unknown as Pick<Client, 'patch'>, clock, log: silentLog, atOnce });
  const end = async (error?: Error): Promise<void> => {
    open.shift()?.(error);
    await atRest();
  };
  const write = (of: typeof waiting, said: string) => {
    const [message = '', nominate] = said.split('>');
    statuses.write(of, { reason: 'Unschedulable', message, nominate }, new AbortController().signal);
  };
  return { statuses, written, conditions, clock, end, write };
}

const said = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'A' }];
const waiting = podInfoOf(pod('web').status({ conditions: said }).build());
const gone = new ApiError({ method: 'PATCH', path: '/status', host: 'local' }, { code: 404, reason: 'NotFound', message: 'it is gone' });

/** The pod says A. Acts: `write B`, or `B>a` with node a promised; what is being written: `end`, `fail`, `gone`; `forget`; `wait 5` (seconds). */
const acts = table('acts | written | why')(`
  write A                                      |         | what it says already is not written
  write B, write C, write D, end               | B D     | of what waits only the last is written
  write B, write B, end                        | B       | what is being written is not written again
  write B, write A, end, end                   | B A     | what it said before something else was being written is
  write B>a, write A>, end                     | B>a A>  | a promise that is being written is taken back
  write B, write C>a, write D, end             | B D>a   | a promise that waits to be written is kept
  write B>a, write C, fail, end, wait 100      | B>a C>a | a promise is not lost with its write, when something newer waits
  write B>a, end, write B>a                    | B>a     | what the server has taken counts as said before the pod shows it
  write B, fail, wait 0.9                      | B       | what could not be written is tried again after a second
  write B, fail, wait 1, fail, wait 1.9        | B B     | and later each time
  write C, fail, write D, end, wait 100        | C D     | or no longer so
  write C, fail, write A, wait 100             | C       | nor when the status shows already what is newer
  write C>a, fail, write A, end, wait 100      | C>a A>a | unless a nomination was lost with the failed write
  write E, fail, forget, wait 100              | E       | or of no concern
  write F, forget, fail, wait 100              | F       | or of no concern by then
  write B, fail, wait 1, gone, wait 100        | B B     | or nobody can be told any more
  write G, fail, wait 60, fail, wait 60, fail, wait 60, fail, wait 60, fail, wait 60, fail, wait 60, fail, wait 60 | G G G G G G | and not for ever
`);
for (const { acts: text, written: becomes, why } of acts)
  test(`a pod's status: ${why}`, async () => {
    const { statuses, written, clock, end, write } = writer();
    for (const [act = '', what = ''] of text.split(', ').map((one) => one.split(' ')))
      if (act === 'write') write(waiting, what);
      else if (act === 'wait') await clock.advance(Number(what) * 1_000);
      else if (act === 'forget') void statuses.forget(waiting.uid);
      else await end(act === 'end' ? undefined : act === 'gone' ? gone : new Error('the test says so'));
    assert.equal(written.join(' '), becomes);
  });

test('forget returns the status write in flight, so that binding waits for it', async () => {
  const { statuses, end, write } = writer();
  write(waiting, 'B');
  let over = false;
  void statuses.forget(waiting.uid)?.then(() => (over = true));
  await atRest();
  assert.equal(over, false);
  await end();
  assert.equal(over, true);
});

test('while Bindings are sent fewer status writes are in flight, but at least one', async () => {
  const { statuses, written, end, write } = writer(8);
  const named = (n: number) => podInfoOf(pod(`p${n}`).build());
  const ways = [statuses.yieldToBinding(), statuses.yieldToBinding()];
  for (let n = 0; n < 20; n++) write(named(n), `${n}`);
  assert.equal(written.length, 2);
  for (const way of ways) way[Symbol.dispose]();
  await end();
  assert.equal(written.length, 2 + 1 + 6, 'all that may be, once one has ended');
  const few = writer(1);
  using _way = few.statuses.yieldToBinding();
  few.write(named(0), '0');
  assert.deepEqual(few.written, ['0']);
});

test('lastTransitionTime is written once, and observedGeneration with each condition', async () => {
  const { conditions, end, write } = writer();
  const fresh = podInfoOf(pod('new').metadata({ generation: 3 }).build());
  for (const message of ['A', 'B', 'C']) {
    write(message === 'C' ? waiting : fresh, message);
    await end();
  }
  const times = conditions.map(({ lastTransitionTime, observedGeneration }) => [lastTransitionTime !== undefined, observedGeneration]);
  assert.deepEqual(times, [[true, 3], [false, 3], [false, undefined]]); // prettier-ignore
});

/** Refusals: a pod, when it is refused (in seconds) and what for; with ! where that is told at once, with `+N` where it is in N seconds. */
const cases = [
  { why: 'the same message is sent again after half an hour', refused: 'a 0 x!, a 60 x, a 1799 x, a 1800 x!, a 1900 x' },
  { why: 'another message is sent after ten seconds', refused: 'a 0 x!, a 9 y+1, a 10 y!, a 15 x+5, a 20 x!' },
  { why: 'of messages that came too soon the newest is sent, once', refused: 'a 0 x!, a 3 y+7, a 4 z, a 5 x, a 6 z+4' },
];
for (const { why, refused } of cases)
  test(`FailedScheduling events: ${why}`, () => {
    const told = new ReportedFailures();
    for (const one of refused.split(', ')) {
      const [uid = '', at, message = '', wait = one.endsWith('!') ? 0 : undefined] = one.replace('!', '').split(/[ +]/);
      assert.equal(told.waits(uid, message, Number(at) * 1_000), wait && Number(wait) * 1_000, one);
    }
  });

test('FailedScheduling events: beyond the limit the pod that was reported the longest ago is forgotten first', () => {
  const told = new ReportedFailures();
  for (let n = 0; n < 20_000; n++) assert.equal(told.waits(`p${n}`, 'x', 0), 0);
  assert.equal(told.waits('p0', 'y', 10_000), 0);
  assert.equal(told.waits('one too many', 'x', 0), 0);
  assert.equal(told.waits('p0', 'y', 10_000), undefined);
  assert.equal(told.waits('p2', 'x', 0), undefined);
  assert.equal(told.waits('p1', 'x', 0), 0);
  told.forget('p3');
  assert.equal(told.waits('p3', 'x', 0), 0);
});
