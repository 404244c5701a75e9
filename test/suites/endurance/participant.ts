import { realClock, type Clock } from '../../../base/clock.ts';
import { realRandom } from '../../../base/random.ts';
import { silentLog } from '../../../base/log.ts';
import { configMaps, type KubeObject } from '../../../kube/api/object.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { LeaderElection } from '../../../kube/election/election.ts';
import { fenced, NotLeaderError } from '../../../kube/election/fence.ts';
import { plantedRules } from './planted-rules.ts';

/*
 * A process that takes part in an election, and while it leads writes as fast as it can. What it is told comes in $PARTICIPANT; SIGTERM asks it
 * to end. It ends with 1 when it lost the lease.
 */
export interface ParticipantOptions {
  /** To the lease, and to what it writes. */
  access: { lease: ClusterAccess; writes: ClusterAccess };
  identity: string;
  namespace: string;
  /** Its wall clock is this wrong. */
  skewMs: number;
  /** A planted bug; '' for none. */
  planted: string;
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

const options = JSON.parse(process.env['PARTICIPANT'] ?? '{}') as ParticipantOptions;
const { access, identity, namespace, skewMs, planted } = options;
const clock: Clock = { ...realClock, now: () => Date.now() + skewMs };
const asked = new AbortController();
process.once('SIGTERM', () => asked.abort());

const ping = { everyMs: 1_000, timeoutMs: 1_000 };
const leaseClient = createClient(access.lease, { ping, connectTimeoutMs: 500 });
const election = new LeaderElection({
  ...options,
  ...(planted === '' ? {} : { rules: plantedRules(planted) }),
  client: leaseClient,
  lease: { namespace, name: 'lease' },
  clock,
  random: realRandom,
  log: silentLog,
});

/** Over the version it read, and with no regard to what is there: the first cannot come late, the second may. */
async function writeOn(): Promise<void> {
  const client = createClient(access.writes, { ping, connectTimeoutMs: 500 });
  const leader = fenced(client, election);
  const data = { identity, epoch: String(election.epoch) };
  for (let n = 0; ; n++) {
    try {
      const { metadata } = await client.get<KubeObject>(configMaps, { namespace, name: 'target' }, { timeoutMs: 1_000 });
      const { resourceVersion } = metadata;
      const change = { data: { ...data, n: String(n) } };
      const put = { type: 'merge', timeoutMs: 1_000 } as const;
      await leader.patch(configMaps, { namespace, name: 'target' }, { ...change, metadata: { resourceVersion } }, put);
      await leader.patch(configMaps, { namespace, name: 'regardless' }, change, put);
    } catch (error) {
      if (error instanceof NotLeaderError) return client.close();
    }
  }
}

void election.whenLeading().then((leads) => (leads ? writeOn() : undefined));
const ended = await election.run(asked.signal);
await leaseClient.close();
process.exit(ended.why === 'lost' ? 1 : 0);
