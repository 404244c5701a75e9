import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { Outage } from '../../../../kube/cache/failure-log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const call = { method: 'GET', path: '/api/v1/pods', host: 'h' };
const away = new TransportError(call, 'unreachable', { hint: 'there is no connection' });
const forbidden = new ApiError(call, { code: 403, reason: 'Forbidden', message: 'no' });
const tooLarge = new TransportError(call, 'too-large', { hint: 'too large' });

function begin() {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  return { clock, lines, fields, outage: new Outage(clock, log) };
}

test('a server that is away is one line for all who call it, one more every ten minutes, and one at its end', async () => {
  const { clock, outage, lines, fields } = begin();
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

test('what the server answers is no outage, and ends one', () => {
  const { outage, lines } = begin();
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(outage.met('pods', tooLarge), false);
  assert.deepEqual(lines, []);
  outage.met('pods', away);
  assert.equal(outage.met('pods', forbidden), false);
  assert.equal(lines.at(-1), 'info: the API server is reachable again');
});
