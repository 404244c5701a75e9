import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { nodes } from '../../../kube/api/object.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { childServer } from '../../unit/kube/client/child-server.ts';
import type { TestContext } from 'node:test';
import type { Authority } from '../../support/certificates.ts';
import type { ChildServer } from '../../unit/kube/client/child-server.ts';

/** With the times that everybody has who sets none. */
const WITHIN_MS = 30_000;
const kinds = ['h2', 'https', 'http'] as const;

let authority: Authority;
before(async () => {
  authority = await makeAuthority();
});
after(() => authority.remove());

const TICK_MS = 100;

/** Counts what time this process was kept from running, in ms. */
function startCounting(): { lostMs: () => number } {
  let lost = 0;
  let from = performance.now();
  const look = (): void => {
    const now = performance.now();
    lost += Math.max(0, now - from - TICK_MS);
    from = now;
  };
  const ticks = setInterval(look, TICK_MS);
  return {
    lostMs: () => {
      look();
      clearInterval(ticks);
      return lost;
    },
  };
}

/**
 * How long after `cut` a quiet watch fails, in ms of those in which this process runs. A GET fails too: it is sent once more elsewhere, and has its
 * own time.
 */
async function noticed(t: TestContext, server: ChildServer, cut: () => void | Promise<void>): Promise<number> {
  const client = createClient({ origin: 'test', server: server.url, ca: { data: authority.ca } });
  t.after(() => client.close());
  await client.get(nodes, { name: 'n' });
  const seen = Promise.withResolvers<void>();
  const over = (async () => {
    for await (const _ of client.watch(nodes, {}, new AbortController().signal)) seen.resolve();
  })();
  over.catch((error: unknown) => seen.reject(error as Error));
  await seen.promise;
  await cut();
  const from = performance.now();
  const counting = startCounting();
  const asked = assert.rejects(client.get(nodes, { name: 'n' }), { name: 'TransportError' });
  await assert.rejects(over, { name: 'TransportError', problem: 'cut' });
  const ms = performance.now() - from - counting.lostMs();
  await asked;
  return ms;
}

test('a stopped process is noticed within 30 s', { timeout: 400_000 }, async (t) => {
  const stopped = async (kind: 'h2' | 'https' | 'http') => {
    const server = await childServer(kind, await authority.server());
    t.after(() => server[Symbol.asyncDispose]());
    const ms = await noticed(t, server, () => server.freeze());
    t.diagnostic(`${kind}, stopped: ${Math.round(ms)} ms`);
    assert.ok(ms < WITHIN_MS, `${kind}: ${ms} ms`);
  };
  await Promise.all(kinds.map(stopped));
});

test('packets that are dropped without a word are noticed within 30 s', { timeout: 400_000 }, async (t) => {
  const net = openNamespace(t);
  if (typeof net === 'string') return t.skip(net);
  const pair = await authority.server(`IP:${net.address}`);
  const servers = await Promise.all(kinds.map((kind) => childServer(kind, pair, { host: net.address, before: net.inside })));
  t.after(() => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())));
  // One cut for all: so each has to be ready before it.
  let ready = 0;
  const dropped = Promise.withResolvers<void>();
  const cutOnce = () => {
    if (++ready === kinds.length) {
      net.drop();
      dropped.resolve();
    }
    return dropped.promise;
  };
  const times = await Promise.all(servers.map((server) => noticed(t, server, cutOnce)));
  for (const [at, ms] of times.entries()) {
    t.diagnostic(`${kinds[at]}, dropped: ${Math.round(ms)} ms`);
    assert.ok(ms < WITHIN_MS, `${kinds[at]}: ${ms} ms`);
  }
  return undefined;
});

interface Namespace {
  /** Of the servers in it. */
  address: string;
  /** A command that runs others in it. */
  inside: readonly string[];
  /** From now on nothing of what is inside gets out, and nobody is told. */
  drop(): void;
}

/** A network namespace of the test's own, joined to this one by a pair of devices. @returns why not, where that cannot be had */
function openNamespace(t: TestContext): Namespace | string {
  const name = `dkc-${process.pid}`;
  // From the range for benchmarks (RFC 2544), which nobody routes.
  const third = process.pid % 250;
  const [here, there] = [`198.18.${third}.1`, `198.18.${third}.2`];
  const [device, peer] = [`dkc${process.pid}a`, `dkc${process.pid}b`];
  t.after(() => void spawnSync('ip', ['netns', 'delete', name]));
  const steps = [
    ['netns', 'add', name],
    ['link', 'add', device, 'type', 'veth', 'peer', 'name', peer, 'netns', name],
    ['address', 'add', `${here}/30`, 'dev', device],
    ['link', 'set', device, 'up'],
    ['-n', name, 'address', 'add', `${there}/30`, 'dev', peer],
    ['-n', name, 'link', 'set', peer, 'up'],
    ['-n', name, 'link', 'set', 'lo', 'up'],
  ];
  for (const step of steps) {
    const { status, stderr, error } = spawnSync('ip', step, { encoding: 'utf8' });
    if (status !== 0) return `no network namespace here: ip ${step.join(' ')}: ${error?.message ?? stderr.trim()}`;
  }
  return {
    address: there,
    inside: ['ip', 'netns', 'exec', name],
    drop: () => assert.equal(spawnSync('ip', ['-n', name, 'route', 'add', 'blackhole', `${here}/32`]).status, 0),
  };
}
