import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { after, before, beforeEach, describe, test } from 'node:test';
import { parseFaults } from '../../../apiserver/faults/fault.ts';
import { FaultPlan } from '../../../apiserver/faults/plan.ts';
import { createLocalApi } from '../../../apiserver/local-api.ts';
import type { ApiServer } from '../../../apiserver/server.ts';
import type { ApiHttp } from '../../support/api-http.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { started } from './started.ts';

const nodes = '/api/v1/nodes';

describe('a fault plan', () => {
  const get = { verb: 'get', resource: 'nodes', subresource: '', name: 'a' };
  const plan = (json: unknown, random = () => 0.5) => new FaultPlan(parseFaults(json), random);
  const cases = [
    { why: 'hits its verb and resource', fault: { verb: 'get', resource: 'nodes' }, hit: true },
    { why: 'hits any with stars', fault: { verb: '*', resource: '*' }, hit: true },
    { why: 'leaves other verbs alone', fault: { verb: 'list', resource: 'nodes' }, hit: false },
    { why: 'leaves other resources alone', fault: { verb: 'get', resource: 'pods' }, hit: false },
    { why: 'leaves other names alone', fault: { verb: 'get', resource: 'nodes', name: 'b' }, hit: false },
    { why: 'hits its name', fault: { verb: 'get', resource: 'nodes', name: 'a' }, hit: true },
    { why: 'leaves the object alone when it is about its status', fault: { verb: 'get', resource: 'nodes/status' }, hit: false },
    { why: 'hits below its probability', fault: { verb: 'get', resource: 'nodes', probability: 0.6 }, hit: true },
    { why: 'spares at or above its probability', fault: { verb: 'get', resource: 'nodes', probability: 0.5 }, hit: false },
    { why: 'never hits with count 0', fault: { verb: 'get', resource: 'nodes', count: 0 }, hit: false },
  ];
  for (const { why, fault, hit } of cases) {
    test(why, () => assert.equal(plan([{ ...fault, status: 500 }]).match(get) !== undefined, hit));
  }

  test('is used up after its count, then the next one counts', () => {
    const two = plan([
      { verb: 'get', resource: 'nodes', status: 500, count: 2 },
      { verb: '*', resource: '*', drop: true },
    ]);
    assert.deepEqual(
      [1, 2, 3].map(() => two.match(get)?.action),
      [{ status: 500 }, { status: 500 }, 'drop'],
    );
  });

  const wrong = [
    { json: {}, says: /it must be a list/ },
    { json: [1], says: /entry 1 of the fault file: it must be an object/ },
    { json: [{ verb: 'get', resource: 'nodes' }], says: /it needs one of: a status from 400 to 599, drop, hang/ },
    { json: [{ status: 200 }], says: /a status from 400/ },
    { json: [{ status: 500, drop: true }], says: /it needs one of/ },
    { json: [{ status: 500, probability: 2 }], says: /probability must be between 0 and 1/ },
    { json: [{ status: 500, count: 1.5 }], says: /count must be a whole number/ },
    { json: [{ status: 500, after: -1 }], says: /after must be a whole number/ },
    { json: [{ fault: 'stale', versions: 'x' }], says: /versions must be a whole number/ },
    { json: [{ verb: 'get', fault: 'duplicate' }], says: /duplicate is a fault of watch events: verb must be watch or \*/ },
    {
      json: [{ verb: 'put', status: 500 }],
      says: /entry 1 of the fault file: there is no verb "put"; name one of create, delete, .*watch, \*$/,
    },
    { json: [{ verb: 'GET', resource: 'nodes', status: 500 }], says: /there is no verb "GET"; name one of create/ },
    { json: [{ verb: 'list', resource: '/version', status: 500 }], says: /there is no verb "list" for a path; name one of get, head/ },
    { json: [{ status: 500, resorce: 'x' }], says: /there is no field "resorce"/ },
  ];
  for (const { json, says } of wrong) test(`refuses ${JSON.stringify(json)}`, () => assert.throws(() => parseFaults(json), says));

  for (const { resource, strange } of [
    { resource: 'pods', strange: false },
    { resource: 'pods/status', strange: false },
    { resource: '*', strange: false },
    { resource: '/version', strange: false },
    { resource: 'pod', strange: true },
    { resource: 'Pods/status', strange: true },
  ])
    test(`${strange ? 'warns of' : 'takes'} the resource ${resource}`, () => {
      const { log, lines, fields } = recordedLog();
      const entry = [{ resource, status: 500 }];
      const api = createLocalApi({ clock: new FakeClock(), random: () => 0, log, faults: parseFaults(entry) });
      api.hooks.setFaults(parseFaults([...entry, ...entry]));
      const said = strange ? ['warn: fault names a resource that is not served'] : [];
      assert.deepEqual(lines, [...said, ...said]);
      if (strange) assert.deepEqual(fields[0], { resource });
    });

  test('a path has methods for verbs', () => assert.equal(parseFaults([{ verb: 'post', resource: '/x', status: 500 }])[0]?.verb, 'post'));
});

describe('a server with faults', () => {
  let server: ApiServer;
  let api: ApiHttp;
  before(async () => {
    ({ server, api } = await started());
    await api.post(nodes, { metadata: { name: 'a' } });
  });
  after(() => server.stop());
  beforeEach(() => server.hooks.setFaults([]));
  const set = (fault: object) => server.hooks.setFaults(parseFaults([{ verb: '*', resource: 'nodes', count: 1, ...fault }]));

  test('answers 429 with a time to wait', async () => {
    set({ status: 429 });
    const { code, headers, json } = await api.get(nodes);
    assert.equal(code, 429);
    assert.equal(headers['retry-after'], '1');
    assert.equal(json['details']?.['retryAfterSeconds'], 1);
  });

  test('leaves an HTTP/2 connection half open: not even a ping comes back', async () => {
    const session = connect(server.url, { ca: server.caPem });
    session.on('error', () => undefined);
    set({ verb: 'list', status: 'half-open' });
    const stream = session.request({ ':path': nodes, authorization: `Bearer ${server.token}` });
    stream.on('error', () => undefined);
    let answered = false;
    stream.once('response', () => {
      answered = true;
    });
    // The first pings may still overtake the request; a ping is lost when the exchanges of another connection leave it behind.
    let ponged = true;
    await once(session, 'connect');
    for (let tries = 0; ponged && tries < 100; tries++) {
      ponged = false;
      session.ping(() => {
        ponged = true;
      });
      for (let turns = 0; turns < 5; turns++) await api.get('/version');
    }
    assert.deepEqual({ answered, ponged }, { answered: false, ponged: false });
    assert.equal(session.destroyed, false);
    session.destroy();
  });

  test('resets the connection', async () => {
    set({ status: 'reset' });
    await assert.rejects(api.get(nodes), { code: 'ECONNRESET' });
  });

  test('resets every stream of an HTTP/2 connection', async () => {
    const session = connect(server.url, { ca: server.caPem });
    const closed = new Promise((resolve) => session.once('close', resolve));
    session.on('error', () => undefined);
    const stream = session.request({ ':path': `${nodes}?watch=1`, authorization: `Bearer ${server.token}` });
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.once('response', resolve));
    set({ status: 'reset' });
    const other = session.request({ ':path': nodes, authorization: `Bearer ${server.token}` });
    other.on('error', () => undefined);
    await closed;
    assert.ok(stream.destroyed);
  });

  test('drops one HTTP/2 stream and leaves the others alone', async () => {
    const session = connect(server.url, { ca: server.caPem });
    const ask = async (path: string): Promise<string> => {
      const stream = session.request({ ':path': path, authorization: `Bearer ${server.token}` });
      let text = '';
      for await (const part of stream.setEncoding('utf8')) text += part;
      return text;
    };
    set({ status: 'drop' });
    assert.equal(await ask(nodes).catch(() => 'failed'), 'failed');
    assert.equal(JSON.parse(await ask(nodes)).kind, 'NodeList');
    session.destroy();
  });

  test('hangs until the client goes', async () => {
    set({ status: 'hang' });
    const session = connect(server.url, { ca: server.caPem });
    const stream = session.request({ ':path': nodes, authorization: `Bearer ${server.token}` });
    let answered = false;
    stream.once('response', () => {
      answered = true;
    });
    // The next exchange on the same connection comes and goes: had the first been answered, it would have been by now.
    await api.get(nodes);
    const ping = new Promise((resolve) => session.ping(resolve));
    await ping;
    assert.equal(answered, false);
    session.destroy();
  });

  test('says gone: as a status to a list, as an event to a watch', async () => {
    set({ verb: 'list', status: 'gone' });
    const list = await api.get(nodes);
    assert.equal(list.code, 410);
    assert.equal(list.json['reason'], 'Expired');
    set({ verb: 'watch', status: 'gone' });
    const watch = await api.watch(`${nodes}?watch=1`);
    assert.deepEqual(
      (await watch.rest()).map((event) => [event.type, event.object['code']]),
      [['ERROR', 410]],
    );
  });

  test('delays, then does as asked', async () => {
    set({ status: 'delay', ms: 80 });
    const started = performance.now();
    assert.equal((await api.get(nodes)).code, 200);
    assert.ok(performance.now() - started >= 75);
  });

  test('is about what is no resource by its path', async () => {
    set({ verb: 'get', resource: '/version', status: 500 });
    assert.equal((await api.get('/version')).code, 500);
    assert.equal((await api.get('/version')).code, 200);
  });
});
