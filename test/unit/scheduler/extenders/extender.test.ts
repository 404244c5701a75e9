import assert from 'node:assert/strict';
import { type ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { after, before, describe, test, type TestContext } from 'node:test';
import { join } from 'node:path';
import { realClock, type Clock } from '../../../../base/clock.ts';
import type { ExtenderConfig } from '../../../../scheduler/config/config.ts';
import { Extender, ExtenderError } from '../../../../scheduler/extenders/extender.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { makeAuthority, type Authority, type KeyPair } from '../../../support/certificates.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { node, pod } from '../builders.ts';
import { extenderConfig, ExtenderServer, type Behaviour } from './extender-server.ts';

const asking = podInfoOf(pod('shop/p').uid('uid-p').priority(10).build());
const victim = podInfoOf(pod('shop/v').uid('uid-v').on('a').priority(1).build());
const nodes = ['a', 'b'].map((name) => node(name).build());
const candidates = [{ node: 'a', victims: [victim], violations: 0 }];
const verbs = { filterVerb: 'filter', prioritizeVerb: 'prioritize', bindVerb: 'bind', preemptVerb: 'preempt' };

async function serving(
  t: TestContext,
  behaviours: Record<string, Behaviour>,
  more: Partial<ExtenderConfig> = {},
  { server: tls, ...options }: { clock?: Clock; answerBytes?: number; server?: ServerOptions } = {},
) {
  const server = await ExtenderServer.start(t, behaviours, tls);
  const extender = new Extender(extenderConfig(server.url, { ...verbs, ...more }), { clock: realClock, ...options });
  t.after(() => extender.close());
  return { server, extender };
}

/** What a call fails with; the server of its URL is left out. */
async function failure(call: Promise<unknown>, { url }: { url: string }): Promise<string> {
  const [{ reason: error }] = (await Promise.allSettled([call])) as [{ reason?: unknown }];
  assert.ok(error instanceof ExtenderError, String(error));
  return error.message.replace(`URL ${url}`, 'URL');
}

test('an extender scores nodes, binds pods and chooses victims', async (t) => {
  const { server, extender } = await serving(t, {
    prioritize: () => [{ Host: 'a', Score: 7 }],
    bind: () => ({}),
    preempt: ({ NodeNameToMetaVictims }) => ({ NodeNameToMetaVictims }),
  });
  assert.deepEqual(await extender.prioritize(asking, nodes, t.signal), [{ host: 'a', score: 7 }]);
  await extender.bind(asking, 'a', t.signal);
  assert.deepEqual(await extender.preempt(asking, candidates, () => [victim], t.signal), candidates);
  assert.deepEqual(server.requests[1]?.body, { PodName: 'p', PodNamespace: 'shop', PodUID: 'uid-p', Node: 'a' });
});

const send =
  (text: string): Behaviour =>
  (_, response) =>
    void response.end(text);

const status = (code: number, headers: Record<string, string> = {}): Behaviour => {
  return (_, response) => void response.writeHead(code, headers).end('{"NodeNames":["a"]}');
};
const half: Behaviour = (_, response) => {
  response.writeHead(200, { 'Content-Length': 100 }).write('{"NodeNames":');
  setImmediate(() => response.destroy());
};

/** `says` follows `failed filter with extender at URL/filter`. */
const hostile: { why: string; filter: Behaviour; answerBytes?: number; says: string | RegExp }[] = [
  { why: 'a status', filter: status(503), says: ', code 503' },
  { why: 'no JSON', filter: send('<html>'), says: ': the response is not JSON' },
  { why: 'half an answer', filter: half, says: /^: aborted/ },
  { why: 'an answer without an end', filter: (_, to) => pour(to), answerBytes: 100_000, says: /^: the response has more than \d+ bytes$/ },
];

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, ' ');
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

for (const { why, filter, answerBytes, says } of hostile)
  test(`an extender that answers with ${why} fails its call, and not the next one`, async (t) => {
    const { server, extender } = await serving(t, { filter, prioritize: () => [] }, {}, answerBytes === undefined ? {} : { answerBytes });
    const message = await failure(extender.filter(asking, nodes, t.signal), server);
    const [, after = message] = /^failed filter with extender at URL\/filter(.*)$/s.exec(message) ?? [];
    if (typeof says === 'string') assert.equal(after, says);
    else assert.match(after, says);
    assert.deepEqual(await extender.prioritize(asking, nodes, t.signal), []);
  });

test('an extender that never answers is waited for as long as configured', async (t) => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const { server, extender } = await serving(t, { filter: () => asked.resolve() }, { httpTimeoutMs: 3_000 }, { clock });
  let message = '';
  const failing = failure(extender.filter(asking, nodes, t.signal), server).then((said) => (message = said));
  await asked.promise;
  await clock.advance(2_999);
  await new Promise(setImmediate);
  assert.equal(message, '');
  await clock.advance(1);
  assert.equal(await failing, 'failed filter with extender at URL/filter: no answer within 3000 ms');
});

test('on a connection that was given up, bind is not asked again', async (t) => {
  let asked = 0;
  // The second call comes over the first one's connection, which breaks then.
  const bind: Behaviour = (_, __, { socket }) => (++asked === 2 ? void socket.resetAndDestroy() : {});
  const { server, extender } = await serving(t, { bind });
  await extender.bind(asking, 'a', t.signal);
  const message = await failure(extender.bind(asking, 'a', t.signal), server);
  assert.match(message, /^failed bind with extender at URL\/bind: .*ECONNRESET/);
  assert.equal(asked, 2);
});

describe('over TLS', () => {
  let authority: Authority;
  let theirs: KeyPair;
  let ours: KeyPair;
  before(async () => {
    authority = await makeAuthority();
    [theirs, ours] = await Promise.all([authority.server(), authority.client('scheduler')]);
  });
  after(() => authority.remove());

  const cases: { why: string; tls: () => Partial<ExtenderConfig['tls']>; enableHttps?: boolean; requestCert?: boolean; says?: RegExp }[] = [
    { why: 'with its authority', tls: () => ({ caData: authority.ca }) },
    { why: 'with its authority from a file', tls: () => ({ caFile: join(authority.directory, 'ca.crt') }) },
    { why: 'by a name that is not its own', tls: () => ({ caData: authority.ca, serverName: 'other' }), says: /: .*other/ },
    { why: 'of somebody unknown', tls: () => ({}), says: /: .*(self.signed|unable to)/ },
    { why: 'without an authority, where enableHTTPS asks for none', tls: () => ({}), enableHttps: true },
    { why: 'with an authority in a file that is not there', tls: () => ({ caFile: '/nowhere/ca.crt' }), says: /CA file of an extender/ },
    { why: 'with an authority that is cut off', tls: () => ({ caData: authority.ca.slice(0, -30) }), says: /tlsConfig of the extender/ },
    { why: 'that wants to know who asks', tls: () => ({ caData: authority.ca, certData: ours.cert, keyData: ours.key }), requestCert: true }, // prettier-ignore
  ];
  for (const { why, tls, enableHttps = false, requestCert = false, says } of cases)
    test(`an extender ${why}`, async (t) => {
      const toldWho = requestCert ? { ca: authority.ca, requestCert } : {};
      const more = { enableHttps, tls: { ...extenderConfig('').tls, ...tls() } };
      const { server, extender } = await serving(t, { prioritize: () => [] }, more, { server: { ...theirs, ...toldWho } });
      const asked = extender.prioritize(asking, nodes, t.signal);
      if (says === undefined) assert.deepEqual(await asked, []);
      else assert.match(await failure(asked, server), says);
    });
});
