import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface ChangesOptions {
  count: number;
  /** Kill the agent by SIGKILL somewhere in each change. One more change comes first, undisturbed: it tells how long one takes here. */
  kill: boolean;
  /** RestartSec= of the agent; the unit's own when absent. */
  restartSec?: string;
}

export interface ChangesResult {
  /** maxPods of every start of the kubelet, in order. */
  starts: unknown[];
  /** Starts whose file was not the effective one, at the end of their change. */
  mismatches: number;
  effective: unknown;
  /** From asking for the change to the start of the kubelet's process, in ms. */
  latencies: number[];
  /** How many kills waited for a process, as there was none at their moment. */
  waited: number;
}

/**
 * Sent to the process itself: `systemctl kill` would take longer than the moments that are aimed at. Between two agents it waits for the next
 * one: on a busy machine most moments lie there.
 * @returns whether it waited
 */
async function killAgent(): Promise<boolean> {
  let looks = 0;
  await eventually('an agent to kill', () => {
    looks++;
    const pid = Number(property('dkc-agent.service', 'MainPID'));
    try {
      return pid > 0 && process.kill(pid, 'SIGKILL') ? true : undefined;
    } catch {
      return undefined; // it has left meanwhile
    }
  });
  return looks > 1;
}

await scenario(async (options: ChangesOptions & { agent: 'stand-in' | 'bundle' }): Promise<ChangesResult> => {
  if (options.restartSec !== undefined) dropIn('dkc-agent.service', `[Service]\nRestartSec=${options.restartSec}\n`);
  const agent = await bothUp(options.agent);
  const result: ChangesResult = { starts: [], mismatches: 0, effective: null, latencies: [], waited: 0 };

  const changes = options.kill ? options.count + 1 : options.count;
  for (let n = 1; n <= changes; n++) {
    const askedAt = Date.now();
    await agent.assign(kubeletConfig({ maxPods: 100 + n }));
    const [undisturbedMs] = result.latencies;
    if (options.kill && undisturbedMs !== undefined) {
      // One moment in each slice of the time, and of some more: random, and yet none is left out.
      await sleep(((n - 2 + Math.random()) / options.count) * undisturbedMs * 1.5);
      if (await killAgent()) result.waited++;
    }
    const start = await kubeletStart(n + 1);
    result.latencies.push(Math.round(start.at - askedAt));
    if (start.sha256 !== sha256Of(EFFECTIVE)) result.mismatches++;
  }

  // Long enough for a restart too many to show up.
  await settled();
  await sleep(1500);
  await settled();
  result.starts = kubeletStarts().map(({ maxPods }) => maxPods);
  result.effective = (parse(readFileSync(EFFECTIVE, 'utf8')) as { maxPods: unknown }).maxPods;
  return result;
});
