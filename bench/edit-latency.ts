import { readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { realClock } from '../base/clock.ts';
import { Service } from '../cli/demo/service.ts';
import { benchCluster, type Cluster } from './cluster.ts';
import type { Figure } from './figure.ts';
import { agentOn } from './launch.ts';
import { benchNode, type BenchNode } from './node.ts';

/** RestartSec= in ms: the value of our unit, and a usual value. */
const RESTARTS = [100, 1000];
const EDITS = 30;

/** Time from an admin's edit of a ConfigMap to the new content of the effective file; the agent is restarted like by systemd. */
export async function editLatency(): Promise<Figure[]> {
  await using undo = new AsyncDisposableStack();
  const cluster = undo.use(await benchCluster());
  const nodes = [];
  for (const restartMs of RESTARTS) {
    const name = `restart-${restartMs}`;
    const node = undo.use(await benchNode(name, cluster.kubeconfig));
    await cluster.addNode(name, 100);
    const { args, env } = agentOn(node);
    const agent = new Service({ argv: [process.execPath, ...args], env, restartMs, logFile: node.log }, realClock);
    agent.start();
    undo.defer(() => agent.stop());
    await cluster.active(name);
    nodes.push({ name, node, restartMs, values: [] as number[] });
  }
  for (let n = 1; n <= EDITS; n++) for (const { name, node, values } of nodes) values.push(await oneEdit(cluster, name, node, 100 + n));
  return nodes.flatMap(({ restartMs, values }) =>
    [0.5, 0.99].map((quantile) => ({
      what: `ConfigMap edit to effective file, p${quantile * 100}, RestartSec=${restartMs}ms`,
      ours: { name: 'agent', unit: 's', values, quantile },
      reach: { atMost: 1 },
    })),
  );
}

async function oneEdit(cluster: Cluster, name: string, { effective }: BenchNode, maxPods: number): Promise<number> {
  const seen = Promise.withResolvers<number>();
  const look = (): void => {
    if (readFileSync(effective, 'utf8').includes(`maxPods: ${maxPods}\n`)) seen.resolve(performance.now());
  };
  const watcher = watch(dirname(effective), look);
  const limit = setTimeout(() => seen.reject(new Error(`${name} did not follow within 30 s`)), 30_000);
  try {
    const from = performance.now();
    const version = await cluster.edit(name, maxPods);
    const seconds = ((await seen.promise) - from) / 1000;
    await cluster.active(name, version);
    return seconds;
  } finally {
    clearTimeout(limit);
    watcher.close();
  }
}
