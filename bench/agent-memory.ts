import { realClock } from '../base/clock.ts';
import { benchCluster } from './cluster.ts';
import type { Figure } from './figure.ts';
import { agentOn, emptyNode, launch } from './launch.ts';
import { benchNode } from './node.ts';

const PAIRS = 5;
/** After this time everything is loaded, watched and reported, and the garbage of the start is collected as far as V8 ever collects it. */
const SETTLE_MS = 25_000;

/** Resident memory of idle agents that watch their Node and their ConfigMap, each beside an empty Node process. */
export async function agentMemory(): Promise<Figure[]> {
  await using undo = new AsyncDisposableStack();
  const cluster = undo.use(await benchCluster());
  const pairs = [];
  for (let n = 1; n <= PAIRS; n++) {
    const name = `memory-${n}`;
    const node = undo.use(await benchNode(name, cluster.kubeconfig));
    await cluster.addNode(name, 120);
    // The first start applies the assignment and exits; the second one then idles.
    const first = launch(agentOn(node));
    await first.readyMs;
    await first.over;
    const [agent, empty] = [launch(agentOn(node)), launch(emptyNode)];
    undo.defer(() => agent.end());
    undo.defer(() => empty.end());
    await Promise.all([agent.readyMs, empty.readyMs, cluster.active(name)]);
    pairs.push({ agent, empty });
  }
  await realClock.sleep(SETTLE_MS);
  return [
    {
      what: 'agent memory, idle with two watches',
      ours: { name: 'agent', unit: 'MB', values: pairs.map(({ agent }) => agent.rssMb()) },
      against: { name: 'empty Node', unit: 'MB', values: pairs.map(({ empty }) => empty.rssMb()) },
      reach: { atMost: 1.35 },
    },
  ];
}
