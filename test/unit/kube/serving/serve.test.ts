import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { Counter, Registry } from 'prom-client';
import { processMetrics } from '../../../../kube/metrics/all-metrics.ts';
import {
  isLoopback,
  listenOn,
  parseBindAddress,
  type Serving,
  type ServingOptions,
  startServing,
  urlOf,
} from '../../../../kube/serving/serve.ts';
import { realClock } from '../../../../base/clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const open: Serving[] = [];
after(() => Promise.all(open.map((serving) => serving.close())));

async function serving(options: Partial<ServingOptions> = {}) {
  const { log, lines } = recordedLog();
  const made = await startServing({ address: '127.0.0.1:0', registry: new Registry(), clock: realClock, log, ...options });
  open.push(made);
  const { url = '' } = made;
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, { ...init, headers: { connection: 'close' } });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  return { ask, url, lines };
}

test('metrics are served as Prometheus reads them, those of the process among them', async () => {
  const registry = new Registry();
  processMetrics(registry);
  new Counter({ name: 'counted_total', help: 'x', registers: [registry] }).inc(3);
  const { ask, url } = await serving({ registry });
  assert.match(url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const { status, text, headers } = await ask('/metrics');
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  assert.match(text, /^counted_total 3$/m);
  const names = 'cpu_seconds_total resident_memory_bytes virtual_memory_bytes open_fds max_fds start_time_seconds'.split(' ');
  for (const name of names) assert.match(text, new RegExp(`^process_${name} [1-9\\d.e+-]+$`, 'm'), name);
  const started = Number(/^process_start_time_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
  assert.ok(Math.abs(started - (Date.now() - process.uptime() * 1_000)) < 5_000);
});

test('checks answer as those of Kubernetes do', async () => {
  let problem: string | undefined = 'the list of pods is missing, token abc';
  const ready = [
    { name: 'caches', problem: () => problem },
    { name: 'leader', problem: () => undefined },
  ];
  const { ask, lines } = await serving({ ready });
  const withheld = '[+]ping ok\n[-]caches failed: reason withheld\n[+]leader ok\nreadyz check failed\n';
  const cases: [path: string, status: number, text: string][] = [
    ['/healthz', 200, 'ok'],
    ['/livez', 200, 'ok'],
    ['/healthz?verbose', 200, '[+]ping ok\nhealthz check passed\n'],
    ['/readyz', 500, withheld],
    ['/readyz?verbose', 500, withheld],
    ['/readyz/caches', 500, '[-]caches failed: reason withheld\nreadyz check failed\n'],
    ['/readyz/leader', 200, 'ok'],
    ['/readyz?exclude=caches', 200, 'ok'],
    [
      '/readyz?verbose&exclude=caches&exclude=nope',
      200,
      '[+]ping ok\n[+]caches excluded: ok\n[+]leader ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nreadyz check passed\n',
    ],
  ];
  for (const [path, status, text] of cases) {
    const answer = await ask(path);
    assert.deepEqual([answer.status, answer.text], [status, text], path);
  }
  assert.equal((await ask('/readyz/nope')).status, 404);
  assert.deepEqual(lines, ['warn: check failed'], 'the reason is told once, in the log');
  problem = undefined;
  assert.deepEqual([(await ask('/readyz')).text, lines.at(-1)], ['ok', 'info: check passes again']);
});

test('a check that throws has failed', async () => {
  const problem = (): never => {
    throw new Error('oops');
  };
  const { ask } = await serving({ health: [{ name: 'broken', problem }] });
  assert.deepEqual([(await ask('/healthz')).status, (await ask('/livez/broken')).status], [500, 500]);
});

test('only plain GETs are heard', async () => {
  const { ask, url } = await serving();
  assert.equal((await ask('/metrics', { method: 'POST', body: 'x' })).status, 405);
  assert.equal((await ask('/metrics', { method: 'DELETE' })).status, 405);
  assert.deepEqual([(await ask('/', {})).status, (await ask('/debug/')).status, (await ask('/debug/pprof/heap')).status], [404, 404, 404]);
  const head = await ask('/healthz', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text, head.headers.get('content-length')], [200, '', '2']);
  const raw = async (request: string): Promise<string> => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.end(request);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    await once(socket, 'close');
    return text.split('\r\n', 1)[0] ?? '';
  };
  assert.equal(await raw('GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'), 'HTTP/1.1 413 Payload Too Large');
  assert.equal(
    await raw(`GET /metrics HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(9_000)}\r\n\r\n`),
    'HTTP/1.1 431 Request Header Fields Too Large',
  );
  assert.equal(await raw('GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n'), 'HTTP/1.1 400 Bad Request');
});

test('debugging shows profiles and dumps, one profile at a time, that ends with whoever asked for it', async () => {
  const { ask } = await serving({ debug: true, dumps: { queues: () => ({ daemonset: 3 }) } });
  const paths = ['/debug/pprof/profile?seconds=30', '/debug/pprof/heap?seconds=10', '/debug/queues'];
  assert.deepEqual(JSON.parse((await ask('/debug/')).text), paths);
  assert.deepEqual(JSON.parse((await ask('/debug/queues')).text), { daemonset: 3 });
  for (const path of ['/debug/nope', '/debug/constructor']) assert.equal((await ask(path)).status, 404);
  for (const seconds of ['0', '301', 'x']) assert.equal((await ask(`/debug/pprof/profile?seconds=${seconds}`)).status, 400);
  const gone = new AbortController();
  const first = ask('/debug/pprof/profile?seconds=60', { signal: gone.signal });
  while ((await ask('/debug/pprof/heap?seconds=0.01')).status !== 409); // until the first one runs: then the other one is refused
  gone.abort();
  await assert.rejects(first);
  for (const [path, part] of [
    ['profile?seconds=0.3', 'samples'],
    ['heap?seconds=0.05', 'head'],
  ]) {
    let taken = await ask(`/debug/pprof/${path}`);
    while (taken.status === 409) taken = await ask(`/debug/pprof/${path}`);
    assert.ok((JSON.parse(taken.text) as Record<string, unknown>)[part ?? ''] !== undefined, path);
  }
});

test('debugging is refused on every address that others can reach', async () => {
  for (const address of ['0.0.0.0:0', ':0', '[::]:0', 'example.com:0'])
    await assert.rejects(serving({ address, debug: true }), /Cannot serve \/debug on .*: .* bind to 127.0.0.1, or remove --debug/);
});

test('an empty address serves nothing, debugging or not; an address that is taken is named', async () => {
  assert.equal((await serving({ address: '', debug: true })).url, '');
  const { url } = await serving();
  await assert.rejects(serving({ address: url.replace('http://', '') }), /Cannot serve metrics on 127\.0\.0\.1:\d+: choose another/);
});

test('addresses are a host and a port, IPv6 in brackets; an empty one is off', () => {
  assert.deepEqual(parseBindAddress('127.0.0.1:0'), { host: '127.0.0.1', port: 0 });
  assert.deepEqual(parseBindAddress('[::1]:10259'), { host: '::1', port: 10_259 });
  assert.deepEqual(parseBindAddress(':8080'), { host: '', port: 8_080 });
  assert.equal(parseBindAddress(''), undefined);
  for (const text of ['127.0.0.1', '127.0.0.1:x', '127.0.0.1:65536', '::1:80', '[127.0.0.1]:80', '[::1]', 'a b:80', '127.0.0.1:-1'])
    assert.throws(() => parseBindAddress(text, '--flag'), /^ActionError: Cannot use --flag ".*": give HOST:PORT/, text);
  assert.equal(urlOf({ host: '::1', port: 1 }), 'http://[::1]:1');
});

test('loopback is what nobody else reaches', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', 'localhost']) assert.equal(isLoopback(host), true, host);
  for (const host of ['', '0.0.0.0', '::', '1::1', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com'])
    assert.equal(isLoopback(host), false, host);
});

test('a server that listens survives its errors, and each that differs from the last one is reported', async (t) => {
  const server = createServer();
  t.after(() => server.close());
  const told: string[] = [];
  await listenOn(server, { host: '127.0.0.1', port: 0 }, ({ message }) => told.push(message));
  for (const message of ['accept EMFILE', 'accept EMFILE', 'accept ENOBUFS']) server.emit('error', new Error(message));
  assert.deepEqual(told, ['accept EMFILE', 'accept ENOBUFS']);
});
