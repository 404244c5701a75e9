import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { clientOf, Trust } from './api-stand-in.ts';
import { childServer } from './child-server.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { RestMetrics } from '../../../../kube/client/requests.ts';

const trust = new Trust();

/** Counts what a client finds dead. */
class Finds implements RestMetrics {
  readonly dead: string[] = [];
  answered() {}
  took() {}
  retried() {}
  waited() {}
  dialled() {}
  foundDead({ host }: { host: string }) {
    this.dead.push(host);
  }
}

/** Resolves to a watch that has seen its first event. */
async function watching(client: Client): Promise<{ over: Promise<void> }> {
  const seen = Promise.withResolvers<void>();
  const over = (async () => {
    for await (const _ of client.watch(nodes, {}, new AbortController().signal)) seen.resolve();
  })();
  over.catch((error: unknown) => seen.reject(error as Error));
  await seen.promise;
  return { over };
}

/** The same for each kind, at once: most of the time is waiting. */
test('a frozen server is noticed by a quiet watch and by a request, whatever is spoken', { timeout: 120_000 }, async (t) => {
  const frozen = async (kind: 'h2' | 'https' | 'http') => {
    const server = await childServer(kind, trust.serverPair);
    t.after(() => server[Symbol.asyncDispose]());
    const metrics = new Finds();
    const client = clientOf(t, trust.access(server), { ping: { everyMs: 200, timeoutMs: 5_000 }, timeoutMs: 60_000, metrics });
    await client.get(nodes, { name: 'n' });
    const { over } = await watching(client);
    const patch = () => client.patch(nodes, { name: 'n' }, {}, { type: 'merge' });
    await patch();
    server.freeze();
    await Promise.all([
      assert.rejects(over, { name: 'TransportError', problem: 'cut' }, kind),
      assert.rejects(patch(), { name: 'TransportError', problem: 'cut' }, kind),
    ]);
    assert.ok(metrics.dead.length > 0 && metrics.dead.every((host) => host === new URL(server.url).host));
    server.thaw();
    assert.equal((await client.get(nodes, { name: 'n' })).metadata.name, 'n');
  };
  await Promise.all((['h2', 'https', 'http'] as const).map(frozen));
});
