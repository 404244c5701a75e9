import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { configMaps, nodes } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { bodyOf, clientOf, json, node, standIn, status, Trust } from './api-stand-in.ts';
import type { AddressInfo } from 'node:net';
import type { Handler, Kind, Response } from './api-stand-in.ts';

const trust = new Trust();

const kinds: Kind[] = ['h2', 'https', 'http'];

for (const kind of kinds) {
  test(`every call goes to its path, over ${kind}`, async (t) => {
    const seen: string[] = [];
    const { client, server } = await trust.pair(t, kind, (request, response) => {
      void bodyOf(request).then((body) => {
        seen.push([request.method, request.url, request.headers['content-type'] ?? '-', body].join(' '));
        if (request.url?.startsWith('/api/v1/nodes?'))
          return json(response, 200, { kind: 'NodeList', metadata: { resourceVersion: '7' }, items: null });
        if (request.method === 'DELETE') return json(response, 200, { kind: 'Status', status: 'Success', metadata: {} });
        return json(response, 200, { metadata: { name: 'x' } });
      });
    });
    const map = { metadata: { name: 'cm', namespace: 'ns' }, data: { k: 'v' } };
    await client.get(nodes, { name: 'n:1' });
    assert.deepEqual((await client.list(nodes, { fieldSelector: 'metadata.name=a&b', limit: 500 })).items, []);
    await client.create(configMaps, map, { fieldManager: 'dkc' });
    await client.replace(configMaps, map, { subresource: 'status', dryRun: true });
    for (const type of ['json', 'merge', 'strategic', 'apply'] as const)
      await client.patch(nodes, { name: 'n' }, {}, { type, subresource: 'status', dryRun: true });
    await client.delete(configMaps, { name: 'cm', namespace: 'ns' }, { body: { preconditions: { uid: 'u' } } });
    await client.raw('GET', '/version');
    const body = JSON.stringify(map);
    assert.deepEqual(seen, [
      'GET /api/v1/nodes/n%3A1 - ',
      'GET /api/v1/nodes?fieldSelector=metadata.name%3Da%26b&limit=500 - ',
      `POST /api/v1/namespaces/ns/configmaps?fieldManager=dkc application/json ${body}`,
      `PUT /api/v1/namespaces/ns/configmaps/cm/status?dryRun=All application/json ${body}`,
      'PATCH /api/v1/nodes/n/status?dryRun=All application/json-patch+json {}',
      'PATCH /api/v1/nodes/n/status?dryRun=All application/merge-patch+json {}',
      'PATCH /api/v1/nodes/n/status?dryRun=All application/strategic-merge-patch+json {}',
      'PATCH /api/v1/nodes/n/status?dryRun=All application/apply-patch+yaml {}',
      'DELETE /api/v1/namespaces/ns/configmaps/cm application/json {"preconditions":{"uid":"u"}}',
      'GET /version - ',
    ]);
    // With https the first socket only found out that the server speaks no HTTP/2.
    assert.equal(server.sockets.length, kind === 'https' ? 2 : 1, 'all calls share one connection');
  });

  test(`what a server answers instead of an object is told apart, over ${kind}`, async (t) => {
    let answer: (response: Response) => void = () => {};
    const { client } = await trust.pair(t, kind, (_request, response) => answer(response));
    const text =
      (code: number, body: string | Buffer, headers: Record<string, string> = {}) =>
      (response: Response) => {
        response.writeHead(code, headers);
        response.end(body as string);
      };
    const html = '<html><body>secret page</body></html>';
    const failing =
      (code: number, reason: string, message: string, status_ = code) =>
      (response: Response) =>
        json(response, status_, status(code, reason, message));
    const odd = { kind: 'Status', message: 7, reason: {}, details: 'x', code: 'y' };
    const cases: [why: string, answer: (response: Response) => void, as: string | [code: number, reason: string], says?: RegExp][] = [
      ['garbage', text(200, Buffer.from([0xff, 0xfe, 0x00, 0x80])), 'garbage'],
      ['HTML', text(200, html), 'garbage', /not JSON; is this a Kubernetes API server\?/],
      ['half a JSON', text(200, '{"kind":"Node","metadata":{"na'), 'garbage', /invalid JSON/],
      ['another kind', text(200, '{"kind":"Pod","metadata":{}}'), 'garbage', /"Pod"/],
      ['a uid that is no text', text(200, '{"kind":"Node","metadata":{"uid":{}}}'), 'garbage', /a malformed Node;/],
      ['compressed bytes', text(200, 'x', { 'content-encoding': 'gzip' }), 'garbage', /gzip/],
      ['a failure called 200', failing(404, 'NotFound', 'gone', 200), [404, 'NotFound']],
      ['401 as HTML', text(401, html), [401, 'Unauthorized'], /check the token/],
      ['403', failing(403, 'Forbidden', 'n cannot get resource "nodes"'), [403, 'Forbidden'], /n cannot get resource "nodes"; grant/],
      ['503', text(503, html), [503, 'ServiceUnavailable'], /busy or not ready; try again later$/],
      ['500 with half a JSON', text(500, '{"kind":"Sta'), [500, 'InternalError']],
      ['a redirect', text(302, '', { location: 'https://elsewhere/' }), [302, 'Redirect'], /not followed/],
      ['a Status of wrong types', (response) => json(response, 400, odd), [400, 'BadRequest']],
    ];
    for (const [why, answers, as, says] of cases) {
      answer = answers;
      const error = await client.get(nodes, { name: 'n1' }).then(
        () => assert.fail(`${why}: no error`),
        (failed: unknown) => failed,
      );
      assert.ok(error instanceof ApiError || error instanceof TransportError, `${why}: ${String(error)}`);
      assert.match(error.message, /^Cannot GET \/api\/v1\/nodes\/n1 at 127\.0\.0\.1:\d+: /, why);
      assert.doesNotMatch(error.message, /secret page/, why);
      if (says) assert.match(error.message, says, why);
      assert.deepEqual(error instanceof TransportError ? error.problem : [error.code, error.reason], as, why);
    }
    answer = failing(409, 'Conflict', 'no', 200);
    await assert.rejects(client.delete(nodes, { name: 'n1' }), { code: 409 });
    answer = failing(403, 'Forbidden', 'no');
    await assert.rejects(client.watch(nodes, {}, t.signal)[Symbol.asyncIterator]().next(), { code: 403 });
    answer = (response) => json(response, 200, node('n1', '1'));
    assert.equal((await client.get(nodes, { name: 'n1' })).metadata.resourceVersion, '1', 'the client still works');
  });

  test(`a server that hangs, drips, or answers without end is given up, over ${kind}`, async (t) => {
    let answer: Handler = () => {};
    const limits = { largestObject: 100_000, largestList: 200_000 };
    const { client } = await trust.pair(t, kind, (request, response) => answer(request, response), limits);
    const hangs = { name: 'TransportError', problem: 'timeout', message: /no answer within 50 ms/ };
    await assert.rejects(client.get(nodes, { name: 'n' }, { timeoutMs: 50 }), hangs);
    answer = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    };
    await assert.rejects(client.get(nodes, { name: 'n' }, { timeoutMs: 60 }), { problem: 'timeout' });
    let written = 0;
    const endless =
      (code: number): Handler =>
      (_request, response) => {
        response.writeHead(code);
        const more = () => {
          for (written += 16_384; response.write('x'.repeat(16_384)) && written < 1e8; written += 16_384);
        };
        response.on('drain', more);
        more();
      };
    answer = endless(200);
    await assert.rejects(client.get(nodes, { name: 'n' }), { problem: 'too-large', message: /more than 100000 bytes/ });
    await assert.rejects(client.list(nodes), { problem: 'too-large', message: /more than 200000 bytes/ });
    answer = endless(500);
    await assert.rejects(client.get(nodes, { name: 'n' }), { name: 'ApiError', code: 500 });
    assert.ok(written < 1e8, 'only the first parts were read');
    answer = (_request, response) => json(response, 200, {}, { 'content-length': '999999999' });
    await assert.rejects(client.get(nodes, { name: 'n' }), { problem: 'too-large' });
  });

  test(`a connection that breaks fails what was under way and the next call has a new one, over ${kind}`, async (t) => {
    let requests = 0;
    const { client, server } = await trust.pair(t, kind, (_request, response) => {
      requests++;
      response.writeHead(200);
      response.write('{"metadata":');
      setImmediate(() => server.sockets.at(-1)?.resetAndDestroy());
    });
    await assert.rejects(client.get(nodes, { name: 'n' }), { name: 'TransportError', problem: 'cut' });
    assert.equal(requests, 1, 'half an answer is not asked for again');
    server.handler = () => {
      requests++;
      server.sockets.at(-1)?.resetAndDestroy();
    };
    await assert.rejects(client.patch(nodes, { name: 'n' }, {}, { type: 'merge' }), { problem: 'cut' });
    assert.equal(requests, 2, 'a patch that may have arrived is not sent again');
    server.handler = (_request, response) => json(response, 200, node('n', '2'));
    assert.equal((await client.get(nodes, { name: 'n' })).metadata.name, 'n');
  });

  test(`the caller's signal ends a call and a watch with its reason, over ${kind}`, async (t) => {
    const ends: Promise<unknown>[] = [];
    const bothCame = Promise.withResolvers<void>();
    const { client } = await trust.pair(t, kind, (_request, response) => {
      ends.push(once(response, 'close'));
      response.writeHead(200);
      response.write('\n');
      if (ends.length === 2) bothCame.resolve();
    });
    const reason = new Error('enough');
    const watching = new AbortController();
    const calls = [
      client.get(nodes, { name: 'n' }, { signal: watching.signal }),
      (async () => {
        for await (const event of client.watch(nodes, {}, watching.signal)) assert.fail(event.type);
      })(),
    ];
    void bothCame.promise.then(() => watching.abort(reason));
    await Promise.all(calls.map((call) => assert.rejects(call, (error) => error === reason)));
    await assert.rejects(client.get(nodes, { name: 'n' }, { signal: watching.signal }), (error) => error === reason);
    assert.equal(ends.length, 2);
    await Promise.all(ends); // the server hears of it
  });

  test(`events of a watch that come together leave turns of the event loop to others, over ${kind}`, async (t) => {
    const events = Array.from({ length: 100 }, (_, at) => JSON.stringify({ type: 'ADDED', object: node(`n-${at}`, String(at + 1)) }));
    let now = 0;
    const clock = { ...realClock, monotonic: () => now };
    const { client } = await trust.pair(t, kind, (_request, response) => response.end(events.join('\n')), { clock });
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 0);
    let seen = 0;
    for await (const { type } of client.watch(nodes, {}, t.signal)) {
      assert.equal(type, 'ADDED');
      now += 10;
      seen += 1;
      const until = performance.now() + 2;
      while (performance.now() < until);
    }
    clearInterval(ticking);
    assert.deepEqual([seen, turns >= 30], [100, true], `${turns} turns`);
  });

  test(`after close calls fail, those under way too, over ${kind}`, async (t) => {
    const arrived = Promise.withResolvers<void>();
    const { client, server } = await trust.pair(t, kind, () => arrived.resolve());
    const failed = assert.rejects(client.get(nodes, { name: 'n' }), { name: 'TransportError', problem: 'closed' });
    await arrived.promise;
    const gone = Promise.all(server.sockets.filter((socket) => !socket.destroyed).map((socket) => once(socket, 'close')));
    await client.close();
    await failed;
    await assert.rejects(client.get(nodes, { name: 'n' }), { problem: 'closed', message: /the client was closed/ });
    await gone;
  });
}

test('a silent watch stands until half a minute after its time: a server that forgot it is given up then', async (t) => {
  const clock = new FakeClock();
  const { client } = await trust.pair(t, 'http', (_request, response) => response.writeHead(200).flushHeaders(), { clock });
  const opened = Promise.withResolvers<void>();
  const query = { timeoutSeconds: 300, opened: () => opened.resolve() };
  let ended: unknown;
  const events = client.watch(nodes, query, t.signal)[Symbol.asyncIterator]();
  const watching = events.next().catch((error: unknown) => (ended = error));
  await opened.promise;
  await clock.advance(329_000);
  assert.equal(ended, undefined);
  await clock.advance(1_000);
  await watching;
  assert.match(String(ended), /no answer within 330000 ms/);
});

test('429 and 503 say how long to stay away', async (t) => {
  // All of them longer than the client has patience for: it does not wait.
  let headers: Record<string, string> = {};
  const busy = (response: Response) => json(response, 503, status(503, 'TooManyRequests', 'slow', { retryAfterSeconds: 300 }), headers);
  const clock = { ...realClock, now: () => Date.parse('2026-01-01T00:00:00Z') };
  const { client } = await trust.pair(t, 'http', (_request, response) => busy(Object.assign(response, { sendDate: false })), { clock });
  for (const [said, retryAfterMs] of [
    [{}, 300_000],
    [{ 'retry-after': '700' }, 700_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:15:00 GMT' }, 900_000],
    // The server's clock is not ours.
    [{ 'retry-after': 'Thu, 01 Jan 2026 08:15:20 GMT', date: 'Thu, 01 Jan 2026 08:15:00 GMT' }, 20_000],
    [{ 'retry-after': 'soon' }, 300_000],
    [{ 'retry-after': '-1' }, 300_000],
  ] as [Record<string, string>, number][]) {
    headers = said;
    await assert.rejects(client.get(nodes, { name: 'n' }), { retryAfterMs });
  }
});

test('names that would leave their place in the path are refused, others are encoded', async (t) => {
  const seen: unknown[] = [];
  const { client, server } = await trust.pair(t, 'http', (request, response) => {
    seen.push(request.url);
    json(response, 200, { metadata: {} });
  });
  for (const name of ['', '.', '..', '../secrets', 'a/b', '%2e%2e', '\ud800']) {
    await assert.rejects(client.get(nodes, { name }), { name: 'ActionError' }, name);
    await assert.rejects(client.get(configMaps, { name: 'a', namespace: name }), { name: 'ActionError' }, name);
  }
  await client.get(nodes, { name: 'a?watch=true#x y\r\nHost: evil' });
  assert.deepEqual(seen, ['/api/v1/nodes/a%3Fwatch%3Dtrue%23x%20y%0D%0AHost%3A%20evil']);
  await clientOf(t, { origin: 'test', server: `${server.url}/k8s/clusters/c1` }).get(nodes, { name: 'a' });
  assert.equal(seen[1], '/k8s/clusters/c1/api/v1/nodes/a', 'a server behind a path keeps it');
  await assert.rejects(client.get(configMaps, { name: 'a' }), { message: /its kind is namespaced; set a namespace/ });
});

test('no server, no trust, and no TLS are told apart, each with a remedy', async (t) => {
  const { server } = await trust.pair(t, 'h2', (_request, response) => json(response, 200, node('n', '1')));
  const plain = await trust.server(t, 'http', (_request, response) => json(response, 200, {}));
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const free = await standIn('http', () => {});
  await free[Symbol.asyncDispose]();
  const ca = { data: trust.authority.ca };
  for (const [access, problem, message] of [
    [{ server: free.url }, 'unreachable', /ECONNREFUSED.*check the server's address/],
    [{ server: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` }, 'unreachable', /cannot connect; check/],
    [{ server: server.url }, 'tls', /is not trusted.*check certificate-authority/],
    [{ server: server.url, ca, tlsServerName: 'other' }, 'tls', /ALTNAME/],
    [{ server: plain.url.replace('http', 'https') }, 'tls', /is this port really an HTTPS one/],
  ] as const) {
    const client = clientOf(t, { origin: 'test', ...access }, { connectTimeoutMs: problem === 'tls' ? 10_000 : 300 });
    await assert.rejects(client.get(nodes, { name: 'n' }), { name: 'TransportError', problem, message });
  }
  const named = clientOf(t, trust.access({ url: server.url.replace('127.0.0.1', 'localhost') }));
  assert.equal((await named.get(nodes, { name: 'n' })).metadata.name, 'n');
});
