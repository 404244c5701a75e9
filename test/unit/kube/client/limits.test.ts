import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline, DeadlineError, slowStart } from '../../../../kube/client/limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ActionError } from '../../../../base/errors.ts';
import { BrokenConnection, DialError, ProxyError } from '../../../../kube/client/connection.ts';
import {
  ApiError,
  apiErrorFrom,
  apiErrorFromStatus,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNotFound,
  isTooManyRequests,
  mayHaveTakenEffect,
  TransportError,
} from '../../../../kube/client/errors.ts';
import { ClosedError, transportErrorFrom } from '../../../../kube/client/transport.ts';

test('a deadline aborts when its time is up, and says how long that was; progress starts the time anew, but not the whole', async () => {
  const clock = new FakeClock();
  using deadline = new Deadline(clock, 1_000);
  using whole = new Deadline(clock, 1_000, undefined, 2_000);
  await clock.advance(999);
  assert.deepEqual([deadline.signal.aborted, deadline.leftMs], [false, 1]);
  whole.touch();
  await clock.advance(1);
  assert.ok(deadline.signal.reason instanceof DeadlineError);
  assert.match(deadline.signal.reason.message, /no answer within 1000 ms/);
  assert.equal(whole.signal.aborted, false);
  whole.touch();
  await clock.advance(1_000);
  assert.match(String(whole.signal.reason), /not complete within 2000 ms/);
  using endless = new Deadline(clock, 1_000);
  endless.reset(undefined);
  await clock.advance(100_000);
  assert.equal(endless.signal.aborted, false);
});

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A server that answers all calls under way together, round after round. @returns how many were under way in each round */
async function rounds(total: number, limits: { first?: number; largest?: number } = {}, quota = Infinity): Promise<number[]> {
  const waiting: { item: number; answer: PromiseWithResolvers<number> }[] = [];
  const call = (item: number): Promise<number> => {
    const answer = Promise.withResolvers<number>();
    waiting.push({ item, answer });
    return answer.promise;
  };
  const over = slowStart(range(total), call, limits);
  const sizes: number[] = [];
  while (waiting.length > 0) {
    const round = waiting.splice(0);
    sizes.push(round.length);
    for (const { item, answer } of round)
      if (item < quota) answer.resolve(item);
      else answer.reject(new Error('exceeded quota'));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  return sizes;
}

for (const { why, total, limits, sizes } of [
  { why: 'nothing to do', total: 0, limits: {}, sizes: [] },
  { why: 'a burst of the DaemonSet controller', total: 250, limits: {}, sizes: [1, 2, 4, 8, 16, 32, 64, 123] },
  { why: 'a limit', total: 10, limits: { largest: 3 }, sizes: [1, 2, 3, 3, 1] },
  { why: 'a first window', total: 20, limits: { first: 4 }, sizes: [4, 8, 8] },
])
  test(`calls under way, answered together, for ${why}`, async () => assert.deepEqual(await rounds(total, limits), sizes));

test('nothing begins after a failure or an abort, and what is under way is finished, in the order of the items', async () => {
  const refused = new Error('quota');
  const { done, failed, skipped } = await slowStart(range(20), (item) => {
    if (item === 4) throw refused; // at once, not as a rejection
    return new Promise((resolve) => setImmediate(resolve, item));
  });
  assert.deepEqual(done, [0, 1, 2, 3].map((item) => ({ item, value: item }))); // prettier-ignore
  assert.deepEqual([failed, skipped], [[{ item: 4, error: refused }], range(20).slice(5)]);
  const stop = new AbortController();
  const call = (item: number): Promise<void> => Promise.resolve(item === 2 ? stop.abort() : undefined);
  const stopped = await slowStart(range(10), call, { signal: stop.signal });
  assert.deepEqual([stopped.done.length, stopped.skipped.length], [3, 7]);
});

const call = { method: 'POST', path: '/api/v1/pods', host: 'test' };
const answered = (code: number) => apiErrorFrom(call, code, '');
const status = (code: number, message: string) => apiErrorFromStatus(call, { code, message });
/** As a client throws it. */
const thrown = (error: unknown, signal?: AbortSignal) => transportErrorFrom(error, call, signal);
const socket = (code: string) => Object.assign(new Error(code), { code });

for (const { why, error, may } of [
  { why: 'a no', error: answered(403), may: false },
  { why: 'what is there already', error: apiErrorFromStatus(call, { reason: 'AlreadyExists', code: 409 }), may: false },
  { why: 'too many requests', error: answered(429), may: false },
  { why: 'a 500 without a Status', error: answered(500), may: false },
  { why: 'an etcd that is full', error: status(500, 'etcdserver: mvcc: database space exceeded'), may: false },
  { why: 'a server whose etcd did not answer', error: status(500, 'etcdserver: request timed out'), may: true },
  { why: 'a gateway that is not available', error: answered(503), may: true },
  { why: 'a server that is not available', error: status(503, 'shutting down'), may: false },
  { why: 'our own timeout', error: thrown(new DeadlineError('no answer within 5 ms')), may: true },
  { why: 'no connection', error: thrown(new DialError('refused', { cause: socket('ECONNREFUSED') })), may: false },
  { why: 'a proxy in the way', error: thrown(new ProxyError(new URL('http://proxy'), 'it refused')), may: false },
  { why: 'a connection that broke before the request', error: thrown(new BrokenConnection('never', 'gone away')), may: false },
  // Its code alone would say that there was no connection.
  { why: 'a connection that timed out under it', error: thrown(new BrokenConnection('perhaps', 'cut', socket('ETIMEDOUT'))), may: true },
  { why: 'a client that was closed before', error: thrown(new ClosedError('closed')), may: false },
  { why: 'a client closed meanwhile', error: thrown(new ClosedError('x', { cause: new BrokenConnection('perhaps', 'x') })), may: true },
  { why: 'an answer that is no Kubernetes', error: new TransportError(call, 'garbage', { hint: 'x' }), may: true },
  { why: 'a token that cannot be read', error: new ActionError('use the token of', '/t', { hint: 'x' }), may: false },
  { why: 'a caller that gave up', error: thrown(new Error('x'), AbortSignal.abort()), may: true },
]) {
  test(`${why} ${may ? 'may have' : 'has not'} taken effect`, () => assert.equal(mayHaveTakenEffect(error), may));
}

for (const { why, words, asks } of [
  { why: 'RBAC', words: 'nodes "a" is forbidden: User "x" cannot patch resource "nodes" in API group "" at the cluster scope', asks: true },
  { why: 'a webhook', words: 'admission webhook "w" denied the request: frozen', asks: false },
  { why: 'a quota', words: 'configmaps "a" is forbidden: exceeded quota: few, requested: count/configmaps=1', asks: false },
])
  test(`a 403 of ${why} ${asks ? 'asks' : 'does not ask'} for a right`, () =>
    assert.equal(/grant this identity the right/.test(status(403, words).message), asks));

test('predicates tell the answers of the API apart', () => {
  const error = (code: number, reason: string) => new ApiError(call, { code, reason, message: '' });
  assert.ok(isNotFound(error(404, 'NotFound')) && isForbidden(error(403, '')) && isTooManyRequests(error(429, '')));
  assert.ok(isConflict(error(409, 'Conflict')) && !isConflict(error(409, 'AlreadyExists')) && isAlreadyExists(error(409, 'AlreadyExists')));
  assert.ok(isExpired(error(410, 'Gone')) && isExpired(error(400, 'Expired')) && !isExpired(error(404, 'NotFound')));
  assert.ok(!isNotFound(new Error('404')) && !isExpired(undefined));
});

test('a Status without a kind, as kube-apiserver writes where a request took too long, keeps its words', () => {
  const body = '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","code":504}';
  assert.equal(apiErrorFrom(call, 504, body).serverMessage, 'Timeout: request did not complete within the allotted timeout');
});

test('a certificate that is refused by its dates points to the clock, any other to the authority', () => {
  for (const [code, hint] of [
    ['CERT_NOT_YET_VALID', /check the clock of this machine/],
    ['CERT_HAS_EXPIRED', /check the clock of this machine/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /check certificate-authority/],
  ] as const)
    assert.match((thrown(socket(code)) as Error).message, hint);
});
