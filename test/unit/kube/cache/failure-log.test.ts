import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets } from '../../../../kube/api/object.ts';
import { FailureLog, Outage } from '../../../../kube/cache/failure-log.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { table } from '../../../support/table.ts';

function begin() {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  const trouble = new FailureLog(clock, log, daemonSets);
  const met = (text: string) => trouble.failed(new Error(text), { failures: 1, waitMs: 500.4 });
  return { clock, trouble, met, lines, fields };
}

const minutes = (count: number) => count * 60_000;

/** Causes `a` to `g`, `over`, and minutes that pass. */
for (const { why, steps, tells } of table('steps | tells | why')(`
  over                              |                                          | nothing while all is well
  a over over                       | warn info                                | its beginning and its end
  a a 1 a                           | warn debug debug                         | the same once
  a b a b                           | warn warn debug debug                    | another cause as well
  a b c d e f g                     | warn warn warn warn warn debug debug     | no more than five causes
  a 9 a 1 a 9 a 1 a                 | warn debug warn debug warn               | again after ten minutes
  a over 0.5 a over                 | warn info warn info                      | anew after its end
  a over a 0.4 over 0.4 a over      | warn info debug debug debug debug        | not anew where it had no end
  a over a 0.4 a 0.2 a a over       | warn info debug debug warn debug info    | what had no end, and stays
`))
  test(`of trouble the log tells ${why}`, async () => {
    const { clock, trouble, met, lines } = begin();
    for (const step of steps.split(' ')) {
      if (/^[0-9.]+$/.test(step)) await clock.advance(minutes(Number(step)));
      else if (step === 'over') trouble.recovered();
      else met(step);
    }
    assert.equal(lines.map((line) => line.split(':')[0]).join(' '), tells);
  });

test('how long trouble lasts is told; what comes back at once has not been over', async () => {
  const { clock, trouble, met, fields } = begin();
  assert.equal(trouble.problem, undefined);
  met('first');
  await clock.advance(minutes(3));
  trouble.recovered();
  assert.equal(trouble.problem, undefined);
  assert.deepEqual(fields, [{ error: 'first', failures: 1, waitMs: 500 }, { afterMs: minutes(3) }]); // prettier-ignore
  await clock.advance(29_000);
  met('again');
  assert.deepEqual(trouble.problem, { text: 'again', forMs: minutes(3) + 29_000 });
  trouble.recovered();
  await clock.advance(30_000);
  met('later');
  assert.deepEqual(trouble.problem, { text: 'later', forMs: 0 });
});

for (const [code, remedy] of [
  [404, /the server has no daemonsets\.apps in version v1; install its CustomResourceDefinition/],
  [403, /the verbs list and watch on daemonsets\.apps are needed/],
] as const)
  test(`what to do about a ${code} is told`, () => {
    const { trouble } = begin();
    const error = new ApiError({ method: 'GET', path: '/x', host: 'h' }, { code, reason: '', message: 'no' });
    trouble.failed(error, { failures: 1, waitMs: 500 });
    assert.match(trouble.problem?.text ?? '', remedy);
  });

const call = { method: 'GET', path: '/api/v1/pods', host: 'h' };
const away = new TransportError(call, 'unreachable', { hint: 'there is no connection' });
const forbidden = new ApiError(call, { code: 403, reason: 'Forbidden', message: 'no' });
const tooLarge = new TransportError(call, 'too-large', { hint: 'too large' });

function outageOf() {
  const clock = new FakeClock();
  const recorded = recordedLog();
  return { clock, ...recorded, outage: new Outage(clock, recorded.log) };
}
const [begins, still, ends] = [
  'warn: cannot reach the API server, retrying; details with -v',
  'warn: still cannot reach the API server, retrying; details with -v',
  'info: the API server is reachable again',
];

test('a server that is away is one line for all who call it, one more every ten minutes, and one at its end', async () => {
  const { clock, outage, lines, fields } = outageOf();
  for (const caller of ['pods', 'nodes', 'lease']) assert.equal(outage.met(caller, away), true);
  for (let minute = 0; minute < 10; minute++) {
    await clock.advance(60_000);
    outage.met('pods', away);
  }
  assert.equal(outage.over('pods'), true);
  assert.equal(outage.over('nodes'), true);
  assert.equal(lines.length, 2, 'the lease still waits');
  assert.equal(outage.over('lease'), true);
  assert.equal(outage.over('lease'), false);
  assert.deepEqual(lines, [begins, still, ends]);
  const error = 'Cannot GET /api/v1/pods at h: there is no connection';
  assert.deepEqual(fields, [{ error }, { error, waiting: 'lease,nodes,pods', forMs: 600_000 }, { afterMs: 600_000 }]);
});

test('what the server answers is no outage, and ends one', () => {
  const { outage, lines } = outageOf();
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(outage.met('pods', tooLarge), false);
  assert.deepEqual(lines, []);
  outage.met('pods', away);
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(lines.at(-1), ends);
});

test('an outage that comes and goes is said once, and every ten minutes', async () => {
  const { clock, outage, lines } = outageOf();
  for (let times = 0; times < 60; times++) {
    outage.met('pods', away);
    await clock.advance(1_000);
    outage.over('pods');
    await clock.advance(10_000);
  }
  assert.deepEqual(lines.filter((line) => !line.startsWith('debug')), [begins, ends, still, ends]); // prettier-ignore
});
