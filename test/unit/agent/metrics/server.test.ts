import assert from 'node:assert/strict';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { keepMetricsServed, MAX_CONNECTIONS } from '../../../../agent/metrics/server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

/** A metrics server that runs until the test ends. `next` resolves with the next state: the port that it listens on, or why it does not. */
function served(t: { after(done: () => Promise<void>): void }, address: string, text = () => Promise.resolve('up 1\n')) {
  const [clock, over] = [new FakeClock(), new AbortController()];
  const { log, lines } = recordedLog();
  const states: (number | string)[] = [];
  let wake = (): void => {};
  const note = (state: number | string): void => {
    states.push(state);
    wake();
  };
  const running = keepMetricsServed(
    {
      address,
      metrics: { text },
      clock,
      random: () => 0,
      log,
      onState: (problem) => problem !== null && note(problem),
      onPort: (port) => note(port),
    },
    over.signal,
  );
  const next = async (): Promise<number | string> => {
    while (states.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return states.shift() ?? '';
  };
  const stop = async (): Promise<void> => {
    over.abort();
    await running;
  };
  t.after(stop);
  return { clock, lines, next, stop, running };
}

const get = (port: number | string, path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });

/** Somebody else on a port, until it is closed. */
async function squatter(): Promise<{ address: string; port: number; leave: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, address: `127.0.0.1:${port}`, leave: () => new Promise((resolve) => server.close(() => resolve())) };
}

test('metrics are served until the agent leaves', async (t) => {
  const { next, stop } = served(t, '127.0.0.1:0');
  const port = await next();
  const answer = await get(port, '/metrics');
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  assert.equal(await answer.text(), 'up 1\n');
  assert.deepEqual([(await get(port, '/healthz')).status, (await get(port, '/')).status], [200, 404]);
  await stop();
  await assert.rejects(get(port, '/healthz'));
});

test('a port that is taken is tried again with growing waits, said once, and served once it is free', async (t) => {
  const other = await squatter();
  const { clock, lines, next } = served(t, other.address);
  const problem = `metrics are not served on ${other.address}: another program listens there; the agent keeps trying`;
  for (const wait of [1_000, 2_000, 4_000]) {
    assert.equal(await next(), problem);
    await clock.advance(wait - 1);
    assert.equal(clock.sleepers, 1, 'not tried yet');
    await clock.advance(1);
  }
  assert.equal(await next(), problem);
  await other.leave();
  await clock.advance(8_000);
  assert.equal(await next(), other.port);
  assert.equal((await get(other.port, '/healthz')).status, 200);
  assert.deepEqual(lines, ['error: metrics are not served, retrying', 'info: metrics are served']);
});

test('an address that is no address, and a port of Kubernetes, end the metrics and nothing else', async (t) => {
  for (const [address, says] of [
    ['[::1]:10257', /its port belongs to kube-controller-manager/],
    [':10250', /its port belongs to the kubelet/],
    ['127.0.0.1', /it is not HOST:PORT/],
  ] as const) {
    const { clock, next, running, lines } = served(t, address);
    assert.match(String(await next()), says);
    await running;
    assert.deepEqual([clock.sleepers, lines], [0, ['error: metrics are not served']]);
  }
});

test('connections are bounded: the one too many is closed, and the others go on', async (t) => {
  const { next } = served(t, '127.0.0.1:0');
  const port = Number(await next());
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  for (let n = 0; n < MAX_CONNECTIONS; n++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await assert.rejects(get(port, '/healthz'));
  const [first] = sockets;
  assert.ok(first);
  first.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const [answer] = (await once(first, 'data')) as [Buffer];
  assert.match(String(answer), /200 OK/);
});
