import { openLog } from '../../../base/pino-log.ts';
import { realClock } from '../../../base/clock.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { loadKubeconfig } from '../../../kube/client/access.ts';
import { hollowNodes } from './hollow-node.ts';
import { HollowNodes, WORKERS } from './hollow-nodes.ts';
import type { RunOptions } from './start-hollow.ts';

/*
 * A hollow fleet in a process of its own: `node test/support/hollow/run.ts '{"kubeconfig":"PATH","count":1000}'`. It prints a line of JSON once the nodes are
 * there and their kubelets are awake, and ends on SIGTERM.
 */
const { kubeconfig, count = 0, prefix, ...rest } = JSON.parse(process.argv[2] ?? '{}') as RunOptions;
const log = openLog({ level: 'warn' });
const client = createClient(await loadKubeconfig(kubeconfig), { log, limits: { writing: WORKERS } });
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort(new Error(name)));

const fleet = new HollowNodes({ ...rest, client, clock: realClock, log });
const running = fleet.run(ending.signal);
try {
  await fleet.add(hollowNodes(count, prefix), ending.signal);
  await fleet.whenSynced(ending.signal);
  process.stdout.write(`${JSON.stringify({ ready: true, nodes: count, pid: process.pid })}\n`);
} catch (error) {
  if (!ending.signal.aborted) throw error;
}
await running;
await client.close();
