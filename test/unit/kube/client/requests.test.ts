import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { configMaps, nodes } from '../../../../kube/api/object.ts';
import { retryWaitMs } from '../../../../kube/client/requests.ts';
import { restMetrics } from '../../../../kube/metrics/client-metrics.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { json, node, status, Trust } from './api-stand-in.ts';
import { eventually } from '../../../support/eventually.ts';
import type { TestContext } from 'node:test';
import type { ClientOptions } from '../../../../kube/client/http-client.ts';
import type { Handler, Response } from './api-stand-in.ts';

const trust = new Trust();
const pair = (t: TestContext, handler: Handler, options: ClientOptions = {}) =>
  trust.pair(t, 'http', handler, { random: () => 0, ...options });

const ok = (response: Response) => json(response, 200, node('n', '1'));

test('each load has its limit, watches have none, and nothing waits for another load', { timeout: 120_000 }, async (t) => {
  const held: { url: string; response: Response }[] = [];
  const { client } = await pair(t, (request, response) => void held.push({ url: `${request.method} ${request.url}`, response }), {
    limits: { reading: 2, listing: 1, writing: 3 },
  });
  const calls = Array.from({ length: 5 }, (_, at) => [
    client.get(nodes, { name: `n${at}` }),
    client.list(nodes),
    client.listEach(nodes, {}, () => {}),
    client.patch(nodes, { name: `n${at}` }, {}, { type: 'merge' }),
  ]).flat();
  const stop = new AbortController();
  const watches = Array.from({ length: 7 }, async () => {
    for await (const _ of client.watch(nodes, {}, stop.signal)) assert.fail();
  });
  await eventually('held.length === 13', () => held.length === 13);
  await atRest();
  const count = (pattern: RegExp) => held.filter(({ url }) => pattern.test(url)).length;
  assert.deepEqual([count(/GET .*nodes\/n/), count(/nodes$/), count(/PATCH/), count(/watch/)], [2, 1, 3, 7]);
  // What waits and is given up is never sent.
  const impatient = new AbortController();
  const given = client.get(nodes, { name: 'never' }, { signal: impatient.signal });
  impatient.abort(new Error('enough'));
  await assert.rejects(given, /enough/);
  const answer = ({ url, response }: { url: string; response: Response }) => {
    if (/watch/.test(url)) return;
    if (url.endsWith('nodes')) json(response, 200, { metadata: {}, items: [] });
    else ok(response);
  };
  let most = 0;
  for (let done = 0; done < 27;) {
    await eventually('held.length > done', () => held.length > done);
    most = Math.max(most, held.length - done);
    for (; done < held.length; done++) answer(held[done] ?? assert.fail());
  }
  await Promise.all(calls);
  assert.equal(count(/never/), 0);
  stop.abort(new Error('over'));
  for (const watch of watches) await assert.rejects(watch, /over/);
});

test('a refused request waits without a slot and is sent again; a failure at the end of patience is the last answer', async (t) => {
  const clock = new FakeClock();
  const seen: string[] = [];
  let refusals = 2;
  const refuse: Handler = (request, response) => {
    seen.push(`${request.method} ${request.url?.split('/').at(-1)}`);
    if (request.url?.endsWith('b') || refusals-- <= 0) return ok(response);
    json(response, 429, status(429, 'TooManyRequests', 'too many'), { 'retry-after': '2' });
  };
  const { client, server } = await pair(t, refuse, { clock, limits: { writing: 1 } });
  const patch = (name: string) => client.patch(nodes, { name }, {}, { type: 'merge' });
  const first = patch('a');
  await eventually('seen.length === 1 && clock.sleepers === 2', () => seen.length === 1 && clock.sleepers === 2);
  await patch('b');
  await clock.advance(1_999);
  assert.deepEqual(seen, ['PATCH a', 'PATCH b']);
  await clock.advance(1);
  await eventually('seen.length === 3 && clock.sleepers === 2', () => seen.length === 3 && clock.sleepers === 2);
  await clock.advance(2_000);
  await first;
  assert.deepEqual(seen, ['PATCH a', 'PATCH b', 'PATCH a', 'PATCH a']);
  assert.equal(clock.sleepers, 0);
  assert.equal(server.sockets.length, 1, 'a refusal costs no connection');
});

const refusal = { method: 'GET', status: 429, retryAfterMs: 1_000, tries: 1, leftMs: 30_000 };
const waits: [why: string, given: object, wait: number | undefined, random?: number][] = [
  ['a refused read waits as asked', {}, 1_000],
  ['and a little longer, each another bit', {}, 1_500, 0.5],
  ['a refused write too: it was not executed', { method: 'POST' }, 1_000],
  ['a server that asks to come back at once gets a little time', { retryAfterMs: 0 }, 50, 0.5],
  ['ten seconds are the longest wait', { retryAfterMs: 10_000 }, 10_000],
  ['a longer one is not cut short but left to the caller', { retryAfterMs: 10_001 }, undefined],
  ['no time named, no wait', { retryAfterMs: undefined }, undefined],
  ['503 is waited for where repeating is harmless', { status: 503 }, 1_000],
  ['503 to a write may come from beyond it', { status: 503, method: 'PATCH' }, undefined],
  ['other failures are answers', { status: 500 }, undefined],
  ['no fourth repetition', { tries: 4 }, undefined],
  ['not beyond the deadline', { leftMs: 1_000 }, undefined],
  ['not beyond it by jitter either', { leftMs: 1_200 }, undefined, 0.5],
];
for (const [why, given, wait, random = 0] of waits)
  test(`Retry-After: ${why}`, () => assert.equal(retryWaitMs({ ...refusal, ...given }, () => random), wait)); // prettier-ignore

test('a list may take longer than a request, but not silently', async (t) => {
  const clock = new FakeClock();
  let response: Response | undefined;
  const { client } = await pair(t, (_request, answer) => void (response = answer), { clock, timeoutMs: 1_000 });
  const read: string[] = [];
  const silent = assert.rejects(
    client.listEach(nodes, {}, ({ metadata }) => void read.push(metadata.name ?? '')),
    { problem: 'timeout', message: /no answer within 1000 ms/ },
  );
  await eventually('it is asked', () => response !== undefined);
  response?.write('{"metadata":{},"items":[');
  for (const name of ['a', 'b', 'c']) {
    response?.write(`${JSON.stringify(node(name, '1'))},`);
    await eventually(`${name} is read`, () => read.includes(name));
    await clock.advance(900);
  }
  await clock.advance(1_000);
  await silent;
});

test('requests, times, repetitions and waits are counted under the names of the field', async (t) => {
  const registry = new Registry();
  let refusals = 1;
  const answer: Handler = (request, response) => {
    if (request.url?.includes('gone')) return json(response, 404, status(404, 'NotFound', 'no'));
    if (request.url?.includes('cut')) return void response.destroy();
    return refusals-- > 0 ? json(response, 429, {}, { 'retry-after': '0' }) : ok(response);
  };
  const { client, server } = await pair(t, answer, { metrics: restMetrics(registry) });
  await client.get(nodes, { name: 'n' });
  await assert.rejects(client.get(nodes, { name: 'gone' }));
  await assert.rejects(client.create(configMaps, { metadata: { name: 'cut', namespace: 'cut' } }));
  const lines = (await registry.metrics()).replaceAll(`host="${new URL(server.url).host}"`, 'host="h"').split('\n');
  for (const line of [
    'requests_total{code="200",method="GET",host="h"} 1',
    'requests_total{code="429",method="GET",host="h"} 1',
    'requests_total{code="404",method="GET",host="h"} 1',
    'requests_total{code="<error>",method="POST",host="h"} 1',
    'request_retries_total{code="429",verb="GET",host="h"} 1',
    'request_duration_seconds_count{verb="GET",host="h"} 2',
    'rate_limiter_duration_seconds_count{verb="GET",host="h"} 3',
  ])
    assert.ok(lines.includes(`rest_client_${line}`), `${line} in\n${lines.join('\n')}`);
});
