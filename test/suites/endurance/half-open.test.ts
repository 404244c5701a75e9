import assert from 'node:assert/strict';
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
