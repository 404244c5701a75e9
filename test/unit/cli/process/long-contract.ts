import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createClient } from '../../../../kube/client/http-client.ts';
import { leases } from '../../../../kube/api/object.ts';
import { eventually } from '../../../support/eventually.ts';
import { text } from '../../kube/process/process-world.ts';
import { freePort, LEASES, quick, up, type Running } from './long-world.ts';

/** A command that goes on until it is asked to end. */
export interface LongCommand {
  name: string;
  lease: string;
  /** What its log and /readyz say when the API server is away. */
  away: { says: string; waits: RegExp };
  start: (t: TestContext, argv: readonly string[]) => Running;
  /** With a part of this name that fails at once. */
  broken: { part: string; start: (t: TestContext, argv: readonly string[]) => Running };
}

/** How any such command ends. */
export function longContract({ name, lease, away, start, broken }: LongCommand): void {
  test(`${name}: a lost lease ends it with 1, and one line on stderr says to whom`, { timeout: 120_000 }, async (t) => {
    const { server, kubeconfig } = await up(t);
    const run = start(t, [`--kubeconfig=${await kubeconfig()}`, ...quick]);
    await run.ready;
    const client = createClient({ origin: 'test', server: server.url, token: server.token });
    t.after(() => client.close());
    const ref = { namespace: 'kube-system', name: lease };
    await client.patch(leases, ref, { spec: { holderIdentity: 'thief' } }, { type: 'merge' });
    assert.equal(await run.ended, 1);
    assert.equal(run.err(), `dkc: ${name}: leader election: the lease is lost: it is held by thief now; restart it\n`);
    assert.ok(run.lines.includes('error: lost the lease'));
  });

  for (const how of ['as the leader', 'without election'])
    test(`${name}: a part that gives up ends it with 1, ${how}, and the line says which and why`, { timeout: 120_000 }, async (t) => {
      const { server, kubeconfig } = await up(t);
      const flags = how === 'without election' ? ['--leader-elect=false'] : [];
      const run = broken.start(t, [`--kubeconfig=${await kubeconfig()}`, ...flags]);
      assert.equal(await run.ended, 1);
      assert.equal(run.err(), `dkc: ${name}: ${broken.part}: a bug; restart it\n`);
      const warning = 'warn: leader election is off: make sure that this is the only process';
      assert.equal(run.lines.some((line) => line.startsWith(warning)), how === 'without election'); // prettier-ignore
      assert.equal(server.hooks.storage.list(LEASES).objects.length, how === 'without election' ? 0 : 1);
    });

  test(
    `${name}: while its API server is away it is alive and says what it waits for, and asked to end it ends with 0`,
    { timeout: 120_000 },
    async (t) => {
      // prettier-ignore
      const { server, kubeconfig } = await up(t);
      await server.hooks.pause();
      const url = `http://127.0.0.1:${await freePort()}`;
      const run = start(t, [`--kubeconfig=${await kubeconfig()}`, `--metrics-bind-address=${new URL(url).host}`]);
      await eventually('the first failure', () => run.lines.includes(away.says));
      assert.match(await text(`${url}/readyz`, away.waits), away.waits);
      assert.equal(await text(`${url}/livez`), 'ok');
      assert.equal(await run.stop(), 0);
      assert.deepEqual([run.out(), run.err(), run.clock.sleepers], ['', '', 0]);
    },
  );
}
