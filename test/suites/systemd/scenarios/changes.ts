import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { property, settled } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface ChangesOptions {
  /** Undisturbed changes, which come first: one at least, as it tells how long a change takes here. */
  calm: number;
  /** Changes with a SIGKILL of the agent somewhere in each. */
  killed: number;
}

export interface ChangesResult {
  /** maxPods of every start of the kubelet, in order. */
  starts: unknown[];
  /** Starts whose file was not the effective one, at the end of their change. */
  mismatches: number;
  effective: unknown;
  /** From asking for the change to the start of the kubelet's process, in ms. */
  latencies: number[];
}

/**
 * Sent to the process itself: `systemctl kill` would take longer than the moments that are aimed at. Between two agents it waits for the next
 * one: on a busy machine most moments lie there.
 */
async function killAgent(): Promise<void> {
  await eventually('an agent to kill', () => {
    const pid = Number(property('dkc-agent.service', 'MainPID'));
    try {
      return pid > 0 && process.kill(pid, 'SIGKILL') ? true : undefined;
    } catch {
      return undefined; // it has left meanwhile
    }
  });
}

await scenario(async ({ calm, killed }: ChangesOptions): Promise<ChangesResult> => {
  const agent = await bothUp();
  const result: ChangesResult = { starts: [], mismatches: 0, effective: null, latencies: [] };
  for (let n = 1; n <= calm + killed; n++) {
    const askedAt = Date.now();
    await agent.assign(kubeletConfig({ maxPods: 100 + n }));
    if (n > calm) {
      // One moment in each slice of the time that a change takes, and of some more: random, and yet none is left out.
      await sleep(((n - calm - 1 + Math.random()) / killed) * (result.latencies[0] ?? 0) * 1.5);
      await killAgent();
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
