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
  const plan = (json: unknown) => new FaultPlan(parseFaults(json), () => 0.5);
  test('hits its verb, resource, name and share, and nothing else', () => {
    const at = { verb: 'get', resource: 'nodes' };
    const hits = (fault: object) => plan([{ ...at, ...fault, status: 500 }]).match(get) !== undefined;
    for (const fault of [{}, { verb: '*', resource: '*' }, { name: 'a' }, { probability: 0.6 }]) assert.equal(hits(fault), true);
    const spared = [
      { verb: 'list' },
      { resource: 'pods' },
      { name: 'b' },
      { resource: 'nodes/status' },
      { probability: 0.5 },
      { count: 0 },
    ];
    for (const fault of spared) assert.equal(hits(fault), false, JSON.stringify(fault));
  });

  test('is used up after its count, then the next one counts', () => {
    const two = plan([{ verb: 'get', resource: 'nodes', status: 500, count: 2 }, { verb: '*', resource: '*', drop: true }]); // prettier-ignore
    assert.deepEqual([1, 2, 3].map(() => two.match(get)?.action), [{ status: 500 }, { status: 500 }, 'drop']); // prettier-ignore
  });

  const wrong = [
    { json: {}, says: /it must be a list/ },
    { json: [1], says: /entry 1 of the fault file: it must be an object/ },
    { json: [{ verb: 'get', resource: 'nodes' }], says: /it needs one of: a status from 400 to 599, drop, hang/ },
    { json: [{ status: 200 }], says: /a status from 400/ },
    { json: [{ status: 500, drop: true }], says: /it needs one of/ },
    { json: [{ status: 500, probability: 2 }], says: /probability must be between 0 and 1/ },
    { json: [{ status: 500, count: 1.5 }], says: /count must be a whole number/ },
    { json: [{ verb: 'get', fault: 'duplicate' }], says: /duplicate is a fault of watch events: verb must be watch or \*/ },
    { json: [{ verb: 'put', status: 500 }], says: /entry 1 of the fault file: there is no verb "put"; name one of create, .*watch, \*$/ },
    { json: [{ verb: 'list', resource: '/version', status: 500 }], says: /there is no verb "list" for a path; name one of get, head/ },
    { json: [{ status: 500, resorce: 'x' }], says: /there is no field "resorce"/ },
  ];
  for (const { json, says } of wrong) test(`refuses ${JSON.stringify(json)}`, () => assert.throws(() => parseFaults(json), says));

  test('warns of a resource that is not served', () => {
    const { log, lines, fields } = recordedLog();
    const faults = parseFaults(['pods/status', '*', '/version', 'Pods/status'].map((resource) => ({ resource, status: 500 })));
    createLocalApi({ clock: new FakeClock(), random: () => 0, log, faults });
    assert.deepEqual([lines, fields], [['warn: fault names a resource that is not served'], [{ resource: 'Pods/status' }]]);
  });
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
  const open = (path = nodes) => {
    const session = connect(server.url, { ca: server.caPem });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': path, authorization: `Bearer ${server.token}` });
    stream.on('error', () => undefined);
    return { session, stream };
  };

  test('answers 429 with a time to wait', async () => {
    set({ status: 429 });
    const { code, headers, json } = await api.get(nodes);
    assert.deepEqual([code, headers['retry-after'], json['details']?.['retryAfterSeconds']], [429, '1', 1]);
  });

  test('resets the connection, with every stream of HTTP/2', async () => {
    set({ status: 'reset' });
    await assert.rejects(api.get(nodes), { code: 'ECONNRESET' });
    const { session, stream } = open(`${nodes}?watch=1`);
    const closed = new Promise((resolve) => session.once('close', resolve));
    await once(stream, 'response');
    set({ status: 'reset' });
    session.request({ ':path': nodes, authorization: `Bearer ${server.token}` }).on('error', () => undefined);
    await closed;
    assert.ok(stream.destroyed);
  });

  test('says gone: as a status to a list, as an event to a watch', async () => {
    set({ verb: 'list', status: 'gone' });
    const list = await api.get(nodes);
    assert.deepEqual([list.code, list.json['reason']], [410, 'Expired']);
    set({ verb: 'watch', status: 'gone' });
    const watch = await api.watch(`${nodes}?watch=1`);
    assert.deepEqual((await watch.rest()).map((event) => [event.type, event.object['code']]), [['ERROR', 410]]); // prettier-ignore
  });
});
