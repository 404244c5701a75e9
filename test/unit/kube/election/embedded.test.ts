import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { LeaderElection } from '../../../../kube/election/election.ts';
import { fenced } from '../../../../kube/election/fenced.ts';
import type { Lease } from '../../../../kube/election/lease.ts';
import { apiServer } from '../../../support/embedded-api.ts';

test('two elect a leader on an API server, who writes, ends and hands over', async () => {
  const server = await apiServer();
  const client = createClient({ server: server.url, origin: 'test', token: server.token, ca: { data: server.caPem } });
  const elect = (identity: string): { election: LeaderElection; asked: AbortController; ended: Promise<unknown> } => {
    const asked = new AbortController();
    const election = new LeaderElection({
      client,
      lease: { namespace: 'kube-system', name: 'dkc' },
      identity,
      clock: realClock,
      random: seededRandom(1),
      log: silentLog,
      retryPeriodMs: 50,
    });
    return { election, asked, ended: election.run(asked.signal) };
  };
  try {
    const first = elect('first');
    assert.equal(await first.election.whenLeading(), true);
    const second = elect('second');
    const object: KubeObject = { metadata: { name: 'x', namespace: 'default' } };
    await fenced(client, first.election).create(configMaps, object);
    await assert.rejects(fenced(client, second.election).delete(configMaps, { name: 'x', namespace: 'default' }), /Cannot write as leader/);
    first.asked.abort();
    assert.deepEqual(await first.ended, { why: 'stopped', released: true });
    assert.equal(await second.election.whenLeading(), true);
    await fenced(client, second.election).delete(configMaps, { name: 'x', namespace: 'default' });
    const lease = server.hooks.storage.get('coordination.k8s.io/leases', 'kube-system/dkc') as Lease;
    assert.deepEqual([lease.spec?.holderIdentity, lease.spec?.leaseTransitions, lease.spec?.leaseDurationSeconds], ['second', 1, 15]);
    assert.equal(second.election.epoch, 1);
    second.asked.abort();
    assert.deepEqual(await second.ended, { why: 'stopped', released: true });
  } finally {
    await client.close();
    await server.stop();
  }
});
