import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FailureLog, Outage } from '../../../../kube/cache/failure-log.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const sets = { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true };
const nodes = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };

function begin(resource = sets) {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  const trouble = new FailureLog(clock, log, resource);
  const met = (text: string) => trouble.failed(new Error(text), { failures: 1, waitMs: 500.4 });
  const levels = () => lines.map((line) => line.split(':')[0]).join(' ');
  return { clock, trouble, met, lines, fields, levels };
}

const minutes = (count: number) => count * 60_000;

describe('what is told of trouble', () => {
  for (const { why, steps, tells } of [
    { why: 'nothing while all is well', steps: ['over'], tells: '' },
    { why: 'its beginning and its end', steps: ['a', 'over', 'over'], tells: 'warn info' },
    { why: 'the same once', steps: ['a', 'a', 1, 'a'], tells: 'warn debug debug' },
    { why: 'another cause as well', steps: ['a', 'b', 'a', 'b'], tells: 'warn warn debug debug' },
    { why: 'no more than five causes', steps: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], tells: 'warn warn warn warn warn debug debug' },
    { why: 'again after ten minutes', steps: ['a', 9, 'a', 1, 'a', 9, 'a', 1, 'a'], tells: 'warn debug warn debug warn' },
    { why: 'anew after its end', steps: ['a', 'over', 0.5, 'a', 'over'], tells: 'warn info warn info' },
    {
      why: 'not anew where it had no end',
      steps: ['a', 'over', 'a', 0.4, 'over', 0.4, 'a', 'over'],
      tells: 'warn info debug debug debug debug',
    },
    {
      why: 'what had no end, and stays',
      steps: ['a', 'over', 'a', 0.4, 'a', 0.2, 'a', 'a', 'over'],
      tells: 'warn info debug debug warn debug info',
    },
    { why: 'another cause of what had no end', steps: ['a', 'over', 'b', 'over'], tells: 'warn info warn info' },
    { why: 'what has no end again after ten minutes', steps: ['a', 'over', 'a', 10, 'a', 'over'], tells: 'warn info debug warn info' },
  ] satisfies { why: string; steps: (string | number)[]; tells: string }[]) {
    test(why, async () => {
      const { clock, trouble, met, levels } = begin();
      for (const step of steps) {
        if (typeof step === 'number') await clock.advance(minutes(step));
        else if (step === 'over') trouble.recovered();
        else met(step);
      }
      assert.equal(levels(), tells);
    });
  }

  test('how long it lasts', async () => {
    const { clock, trouble, met, fields } = begin();
    assert.equal(trouble.problem, undefined);
    met('first');
    await clock.advance(minutes(3));
    met('second');
    assert.deepEqual(trouble.problem, { text: 'second', forMs: minutes(3) });
    trouble.recovered();
    assert.equal(trouble.problem, undefined);
    assert.deepEqual(fields, [
      { error: 'first', failures: 1, waitMs: 500 },
      { error: 'second', failures: 1, waitMs: 500 },
      { afterMs: minutes(3) },
    ]);
  });

  test('what comes back at once has not been over', async () => {
    const { clock, trouble, met } = begin();
    met('first');
    await clock.advance(minutes(3));
    trouble.recovered();
    await clock.advance(29_000);
    met('again');
    assert.deepEqual(trouble.problem, { text: 'again', forMs: minutes(3) + 29_000 });
    trouble.recovered();
    await clock.advance(30_000);
    met('later');
    assert.deepEqual(trouble.problem, { text: 'later', forMs: 0 });
  });

  for (const { code, resource, remedy } of [
    { code: 404, resource: sets, remedy: /the server has no daemonsets\.apps in version v1; install its CustomResourceDefinition/ },
    { code: 403, resource: sets, remedy: /the verbs list and watch on daemonsets\.apps are needed/ },
    { code: 403, resource: nodes, remedy: /the verbs list and watch on nodes are needed/ },
  ]) {
    test(`what to do about a ${code} of ${resource.resource}`, () => {
      const { trouble } = begin(resource);
      const error = new ApiError({ method: 'GET', path: '/x', host: 'h' }, { code, reason: '', message: 'no' });
      trouble.failed(error, { failures: 1, waitMs: 500 });
      assert.match(trouble.problem?.text ?? '', remedy);
    });
  }
});

const call = { method: 'GET', path: '/api/v1/pods', host: 'h' };
const away = new TransportError(call, 'unreachable', { hint: 'there is no connection' });
const forbidden = new ApiError(call, { code: 403, reason: 'Forbidden', message: 'no' });
const tooLarge = new TransportError(call, 'too-large', { hint: 'too large' });

function outageOf() {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  return { clock, lines, fields, outage: new Outage(clock, log) };
}

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
  assert.deepEqual(lines, [
    'warn: cannot reach the API server, retrying; details with -v',
    'warn: still cannot reach the API server, retrying; details with -v',
    'info: the API server is reachable again',
  ]);
  assert.deepEqual(fields, [
    { error: 'Cannot GET /api/v1/pods at h: there is no connection' },
    { error: 'Cannot GET /api/v1/pods at h: there is no connection', waiting: 'lease,nodes,pods', forMs: 600_000 },
    { afterMs: 600_000 },
  ]);
});

test('an outage that comes and goes is said once, and every ten minutes', async () => {
  const { clock, outage, lines } = outageOf();
  for (let times = 0; times < 60; times++) {
    outage.met('pods', away);
    await clock.advance(1_000);
    outage.over('pods');
    await clock.advance(10_000);
  }
  outage.met('pods', away);
  await clock.advance(30_000);
  outage.met('pods', away);
  outage.over('pods');
  await clock.advance(30_000);
  outage.met('pods', away);
  const [begins, still, ends] = [
    'warn: cannot reach the API server, retrying; details with -v',
    'warn: still cannot reach the API server, retrying; details with -v',
    'info: the API server is reachable again',
  ];
  assert.deepEqual(
    lines.filter((line) => !line.startsWith('debug')),
    [begins, ends, still, ends, still, ends, begins],
  );
});

test('what the server answers is no outage, and ends one', () => {
  const { outage, lines } = outageOf();
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(outage.met('pods', tooLarge), false);
  assert.deepEqual(lines, []);
  outage.met('pods', away);
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(lines.at(-1), 'info: the API server is reachable again');
});
